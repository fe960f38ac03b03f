// SPDX-License-Identifier: Apache-2.0
// docs/metrics.md: what is counted from which metrics, and the plan of every chip.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collector/cupti/cupti_api.h"

namespace gable {

// The page as Markdown, for these chips. Plans each of them four times, half a second a chip, and
// calls `under_way` before each.
[[nodiscard]] std::string metrics_page(const CuptiApi& api, const std::vector<std::string>& chips,
                                       const std::function<void()>& under_way);

}  // namespace gable

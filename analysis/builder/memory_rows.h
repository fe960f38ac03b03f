// SPDX-License-Identifier: Apache-2.0
// What holds a device's memory in a described step, as the report shows it.
#pragma once

#include <optional>

#include "analysis/builder/layer_rows.h"
#include "analysis/profile/profile_state.h"
#include "analysis/report/report.h"

namespace gable {

// Of all described steps the one with the highest peak. Empty if memory was not asked for.
[[nodiscard]] std::optional<MemoryOfStep> memory_rows(const Profile::State& state,
                                                      const LayerRows& layers);

}  // namespace gable

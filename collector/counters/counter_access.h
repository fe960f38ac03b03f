// SPDX-License-Identifier: Apache-2.0
// Whether this user may take counters on a device here and now, found out by taking some: CUPTI's
// own question about support says nothing about permission, and nothing about who else holds them.
#pragma once

#include <cstdint>
#include <string>

#include "collector/cupti/cupti_api.h"
#include "collector/metrics/plan.h"

namespace gable {

// Starts `pass` on a context of its own and stops it again. Returns an empty text on success, else
// one sentence with the reason and the remedy. Needs an initialised driver; never call it in a
// profiled process.
[[nodiscard]] std::string why_counters_fail(const CuptiApi& api, std::int32_t device,
                                            const std::string& chip, const PassPlan& pass);

}  // namespace gable

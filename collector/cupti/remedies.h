// SPDX-License-Identifier: Apache-2.0
// What a user can do about a CUPTI code.
#pragma once

#include <string>

#include "collector/cupti/cupti_api.h"

namespace gable {

// One plain sentence that says why counters are refused and what helps; empty for codes that no
// user can fix.
[[nodiscard]] std::string remedy_for(CUptiResult code);

// How a CUPTI call failed. `sentence` is for the user: what failed, the code, the remedy.
struct CuptiFailure {
  CUptiResult code = CUPTI_SUCCESS;
  std::string sentence;
  [[nodiscard]] bool failed() const { return !sentence.empty(); }
};

// "Counters were not started: cuptiRangeProfilerStart answered CUPTI_ERROR_… (35); …remedy"
[[nodiscard]] CuptiFailure call_failed(const CuptiApi& api, const char* call, CUptiResult code);

}  // namespace gable

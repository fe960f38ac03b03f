// SPDX-License-Identifier: Apache-2.0
// The helper threads of a process for all CUPTI calls except a profiler object's. Each starts with
// its first call, and a slow call in one does not delay the others.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "collector/cupti/cupti_api.h"
#include "collector/cupti/patient_calls.h"

namespace gable {

struct Helpers {
  const std::shared_ptr<Patience> patience = std::make_shared<Patience>();
  PatientCalls start{patience, "gable-start"};      // in the driver's start
  PatientCalls calls{patience, "gable-cupti"};      // one by one
  PatientCalls graphs{patience, "gable-graphs"};    // within callbacks about graphs
  PatientCalls records{patience, "gable-records"};  // reading buffers
  PatientCalls plan{patience, "gable-plan"};        // devices and the plan of the counters
};

// Makes `call`, which owns what it uses, on that helper, or on this thread without helpers, as in
// tools. std::nullopt: CUPTI did not answer in time; `late` runs if the call still returns.
[[nodiscard]] std::optional<CUptiResult> patiently(const CuptiApi& api,
                                                   PatientCalls Helpers::*helper,
                                                   std::function<CUptiResult()> call,
                                                   std::function<void()> late = {});

// The same for a call with one result; nothing if it failed or did not return in time.
template <typename Value>
std::optional<Value> ask_patiently(const CuptiApi& api, PatientCalls Helpers::*helper,
                                   std::function<CUptiResult(Value&)> call) {
  const auto value = std::make_shared<Value>();
  const auto code =
      patiently(api, helper, [value, call = std::move(call)] { return call(*value); });
  if (!code || *code != CUPTI_SUCCESS) return std::nullopt;
  return *value;
}

// Whether an abandoned call has still not returned.
[[nodiscard]] inline bool stuck(const CuptiApi& api) {
  return api.helpers != nullptr && api.helpers->patience->stuck();
}

}  // namespace gable

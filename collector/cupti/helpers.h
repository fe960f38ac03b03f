// SPDX-License-Identifier: Apache-2.0
// The helpers of a process for those calls of CUPTI that are not a profiler object's. Each is one
// thread, which begins with its first call: what is late for one does not hold up the others.
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

// Makes `call`, which owns what it uses, on that helper. std::nullopt: CUPTI does not answer, and
// `late` comes after the call if that still returns. Without helpers, as in tools: right here.
[[nodiscard]] std::optional<CUptiResult> patiently(const CuptiApi& api,
                                                   PatientCalls Helpers::*helper,
                                                   std::function<CUptiResult()> call,
                                                   std::function<void()> late = {});

// The same for one call with one answer. Nothing: it failed, or there was none.
template <typename Value>
std::optional<Value> ask_patiently(const CuptiApi& api, PatientCalls Helpers::*helper,
                                   std::function<CUptiResult(Value&)> call) {
  const auto value = std::make_shared<Value>();
  const auto code =
      patiently(api, helper, [value, call = std::move(call)] { return call(*value); });
  if (!code || *code != CUPTI_SUCCESS) return std::nullopt;
  return *value;
}

// A call that was given up has not returned.
[[nodiscard]] inline bool stuck(const CuptiApi& api) {
  return api.helpers != nullptr && api.helpers->patience->stuck();
}

}  // namespace gable

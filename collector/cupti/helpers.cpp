// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/helpers.h"

#include <utility>

namespace gable {

std::optional<CUptiResult> patiently(const CuptiApi& api, PatientCalls Helpers::*helper,
                                     std::function<CUptiResult()> call,
                                     std::function<void()> late) {
  if (api.helpers == nullptr) return call();
  return ((*api.helpers).*helper).make(nullptr, std::move(call), std::move(late));
}

}  // namespace gable

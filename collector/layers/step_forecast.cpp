// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/step_forecast.h"

namespace gable {

void StepForecast::ended(std::uint64_t sequence) {
  if (last_ && (followers_.size() < kMostSequences || followers_.contains(*last_)))
    followers_[*last_] = sequence;
  last_ = sequence;
}

std::optional<std::uint64_t> StepForecast::next() const {
  if (!last_) return std::nullopt;
  const auto follower = followers_.find(*last_);
  if (follower == followers_.end()) return std::nullopt;
  return follower->second;
}

}  // namespace gable

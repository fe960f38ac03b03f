// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/step_forecast.h"

namespace gable {

void StepForecast::ended(std::uint64_t sequence) {
  for (const std::size_t length : kLengths) {
    const auto before = row(length);
    if (before && (followers_.size() < kMostRows || followers_.contains(*before)))
      followers_[*before] = sequence;
  }
  last_.push_back(sequence);
  if (last_.size() > kLengths.front()) last_.pop_front();
}

std::optional<std::uint64_t> StepForecast::next() const {
  for (const std::size_t length : kLengths) {
    const auto before = row(length);
    if (!before) continue;
    const auto follower = followers_.find(*before);
    if (follower != followers_.end()) return follower->second;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> StepForecast::row(std::size_t length) const {
  if (last_.size() < length) return std::nullopt;
  constexpr std::uint64_t kPrime = 0x100000001b3;  // as in FNV-1a
  std::uint64_t number = length;
  for (std::size_t i = last_.size() - length; i < last_.size(); ++i)
    number = (number ^ last_[i]) * kPrime;
  return number;
}

}  // namespace gable

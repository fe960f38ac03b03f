// SPDX-License-Identifier: Apache-2.0
// Estimates the cost of Gable's callbacks from a sample of them. Pure code.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gable {

// A sample stands for the callbacks that were not measured, unless it is far above the others: then
// the thread was preempted within it, as it may be anywhere. Such a sample counts once. A cost that
// stays high is believed after a few samples.
class SampledCost {
 public:
  // Time in ns to add for a sample of `ns` that stands for `stands_for` callbacks.
  [[nodiscard]] std::uint64_t add(std::uint64_t ns, std::uint32_t stands_for) {
    const std::uint64_t far = kFar * usual_ns_;
    const bool alone = ns > far;
    usual_ns_ = std::max(kLeastNs, usual_ns_ - usual_ns_ / kSlow + std::min(ns, far) / kSlow);
    return alone ? ns : ns * stands_for;
  }

 private:
  static constexpr std::uint64_t kFar = 16, kSlow = 8;
  // A callback takes some 100 ns, and a few us where it says something for the first time.
  static constexpr std::uint64_t kLeastNs = 1000;
  std::uint64_t usual_ns_ = kLeastNs;
};

}  // namespace gable

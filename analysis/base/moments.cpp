// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/moments.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gable {

void Moments::merge(const Moments& other) {
  if (other.count_ == 0) return;
  const double n = static_cast<double>(count_), m = static_cast<double>(other.count_);
  const double delta = other.running_mean_ - running_mean_;
  squares_ += other.squares_ + delta * delta * n * m / (n + m);
  running_mean_ += delta * m / (n + m);
  merge_samples(other);
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

// `count` of them, drawn uniformly.
void Moments::keep_some(std::vector<std::uint64_t>& samples, std::size_t count,
                        std::uint64_t seed) {
  for (std::size_t i = 0; i < count; ++i)
    std::swap(samples[i], samples[i + below(samples.size() - i, seed + i)]);
  samples.resize(count);
}

// A uniform sample of all values has as many of each side as its share of the values. A part of a
// sample is the chance of one, or what comes in small sets would never be in it.
void Moments::merge_samples(const Moments& other) {
  std::vector<std::uint64_t> theirs = other.samples_;
  if (const auto all = samples_.size() + theirs.size(); all > kSamples) {
    const std::uint64_t total = count_ + other.count_;
    const double share =
        kSamples * (static_cast<double>(other.count_) / static_cast<double>(total));
    auto taken = static_cast<std::size_t>(share);
    constexpr std::uint64_t kParts = std::uint64_t{1} << 30;
    if (static_cast<double>(below(kParts, total)) < (share - std::floor(share)) * kParts) ++taken;
    keep_some(samples_, kSamples - taken, total);
    keep_some(theirs, taken, total + kSamples);
  }
  samples_.insert(samples_.end(), theirs.begin(), theirs.end());
}

std::optional<double> Moments::mean() const {
  if (count_ == 0) return std::nullopt;
  return static_cast<double>(sum_) / static_cast<double>(count_);
}

std::optional<double> Moments::median() const {
  if (samples_.empty()) return std::nullopt;
  std::vector<std::uint64_t> sorted = samples_;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return static_cast<double>(sorted[middle]);
  return (static_cast<double>(sorted[middle - 1]) + static_cast<double>(sorted[middle])) / 2;
}

std::optional<double> Moments::min() const {
  if (count_ == 0) return std::nullopt;
  return static_cast<double>(min_);
}

std::optional<double> Moments::max() const {
  if (count_ == 0) return std::nullopt;
  return static_cast<double>(max_);
}

std::optional<double> Moments::stddev() const {
  if (count_ < 2) return std::nullopt;
  return std::sqrt(std::max(0.0, squares_) / static_cast<double>(count_ - 1));
}

}  // namespace gable

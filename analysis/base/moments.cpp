// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/moments.h"

#include <algorithm>
#include <cmath>

namespace gable {

void Moments::merge(const Moments& other) {
  if (other.count_ == 0) return;
  const double n = static_cast<double>(count_), m = static_cast<double>(other.count_);
  const double delta = other.running_mean_ - running_mean_;
  squares_ += other.squares_ + delta * delta * n * m / (n + m);
  running_mean_ += delta * m / (n + m);
  // Each sample of the other stands for count / samples of its values.
  const std::uint64_t total = count_ + other.count_;
  for (std::size_t i = 0; i < other.samples_.size(); ++i) {
    const std::uint64_t stands_for = other.count_ * (i + 1) / other.samples_.size();
    keep_sample(other.samples_[i],
                std::min(total, count_ + std::max<std::uint64_t>(stands_for, 1)));
  }
  count_ = total;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
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

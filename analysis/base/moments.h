// SPDX-License-Identifier: Apache-2.0
// Mean, spread and median of durations, one pass over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gable {

// Sums are exact integers; the spread follows Welford. The median is exact up to kSamples values;
// beyond, it is that of a uniform sample of kSamples of them (Vitter's algorithm R with a fixed
// sequence of pseudo-random numbers, so that equal input gives equal output).
class Moments {
 public:
  static constexpr std::size_t kSamples = 64;

  void add(std::uint64_t ns) {
    ++count_;
    sum_ += ns;
    min_ = ns < min_ ? ns : min_;
    max_ = ns > max_ ? ns : max_;
    const double value = static_cast<double>(ns);
    const double delta = value - running_mean_;
    running_mean_ += delta / static_cast<double>(count_);
    squares_ += delta * (value - running_mean_);
    keep_sample(ns, count_);
  }

  // Adds the other's values; the median is then approximate beyond kSamples values.
  void merge(const Moments& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  // These are empty without values.
  [[nodiscard]] std::optional<double> mean() const;
  [[nodiscard]] std::optional<double> median() const;
  [[nodiscard]] std::optional<double> min() const;
  [[nodiscard]] std::optional<double> max() const;
  // Sample standard deviation (n - 1); empty below two values.
  [[nodiscard]] std::optional<double> stddev() const;

 private:
  void keep_sample(std::uint64_t ns, std::uint64_t ordinal) {
    if (samples_.size() < kSamples) {
      samples_.push_back(ns);
      return;
    }
    const std::uint64_t slot = below(ordinal, ordinal);
    if (slot < kSamples) samples_[slot] = ns;
  }
  void merge_samples(const Moments& other);
  // A pseudo-random number below `end`, a function of the seed alone (splitmix64).
  static std::uint64_t below(std::uint64_t end, std::uint64_t seed) {
    std::uint64_t z = seed * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    return end >> 32 ? z % end : ((z >> 32) * end) >> 32;
  }
  static void keep_some(std::vector<std::uint64_t>& samples, std::size_t count, std::uint64_t seed);

  std::uint64_t count_ = 0, sum_ = 0;
  std::uint64_t min_ = UINT64_MAX, max_ = 0;
  double running_mean_ = 0, squares_ = 0;
  std::vector<std::uint64_t> samples_;
};

}  // namespace gable

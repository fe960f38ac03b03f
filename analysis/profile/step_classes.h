// SPDX-License-Identifier: Apache-2.0
// Steps of different launch sequences (a server's prefill and decode, training and validation).
// Every class that comes often gets the same number of windows, however often it comes: means over
// steps therefore weigh each class by the steps seen of it, not by its windows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gable {

class StepClasses {
 public:
  // Number of classes with separate sums; further ones share the last place.
  static constexpr std::size_t kPlaces = 64;

  void step(std::uint64_t sequence_hash);
  // The place of the sums of this sequence's kept windows.
  std::size_t place(std::uint64_t sequence_hash);
  // The same, if any window of the sequence was kept.
  [[nodiscard]] std::optional<std::size_t> known_place(std::uint64_t sequence_hash) const {
    const auto found = classes_.find(sequence_hash);
    return found == classes_.end() ? std::nullopt : found->second.place;
  }
  [[nodiscard]] std::size_t places() const { return std::max<std::size_t>(seen_.size(), 1); }
  [[nodiscard]] std::uint64_t steps() const { return steps_; }
  [[nodiscard]] std::uint64_t steps_of(std::uint64_t sequence_hash) const {
    const auto found = classes_.find(sequence_hash);
    return found == classes_.end() ? 0 : found->second.steps;
  }
  // Number of different sequences.
  [[nodiscard]] std::size_t size() const { return size_; }
  // The number of steps seen whose sequence is in none of the places for which `has(place)` holds,
  // and the number of these sequences.
  template <typename Has>
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> outside(Has has) const {
    std::pair<std::uint64_t, std::uint64_t> found;
    for (const auto& [hash, each] : classes_) {
      if (each.steps == 0 || (each.place && has(*each.place))) continue;
      found.first += each.steps;
      ++found.second;
    }
    return found;
  }

  struct Mean {
    double sum = 0;
    std::uint64_t windows = 0;
  };
  // The mean per step over the classes with windows, empty without any; `of(place)`: sum and number
  // of windows.
  template <typename Of>
  [[nodiscard]] std::optional<double> per_step(Of of) const {
    double weighed = 0, weight = 0;
    for (std::size_t place = 0; place < places(); ++place) {
      const Mean mean = of(place);
      if (mean.windows == 0) continue;
      const double one = mean.sum / static_cast<double>(mean.windows);
      const double share = places() == 1 ? 1.0 : this->weight(place);
      weighed += one * share;
      weight += share;
    }
    if (!(weight > 0)) return std::nullopt;
    return weighed / weight;
  }

 private:
  static constexpr std::size_t kMostClasses = 4096;
  struct Class {
    std::uint64_t steps = 0;
    std::optional<std::size_t> place;
  };
  [[nodiscard]] double weight(std::size_t place) const {
    return static_cast<double>(std::max<std::uint64_t>(seen_[place], 1));
  }

  std::unordered_map<std::uint64_t, Class> classes_;  // by sequence hash
  std::vector<std::uint64_t> seen_;                   // steps, by place
  std::uint64_t steps_ = 0;
  std::size_t size_ = 0;  // number of classes with steps
};

}  // namespace gable

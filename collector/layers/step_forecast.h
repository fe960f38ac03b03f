// SPDX-License-Identifier: Apache-2.0
// Which launches the next step will have: those that came before after the same steps.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

namespace gable {

class StepForecast {
 public:
  static constexpr std::size_t kMostRows = 1024;  // of steps; more are not remembered

  // A step has ended; `sequence` is the hash of its launches.
  void ended(std::uint64_t sequence);
  // What followed the longest row of last steps that came before. Nothing if not even the last one
  // did.
  [[nodiscard]] std::optional<std::uint64_t> next() const;

 private:
  // Lengths of rows, longest first: a critic may learn eight times before its generator does.
  static constexpr std::array<std::size_t, 4> kLengths{8, 4, 2, 1};
  // A number for the last `length` steps; nothing if there were not so many.
  [[nodiscard]] std::optional<std::uint64_t> row(std::size_t length) const;

  std::deque<std::uint64_t> last_;  // newest last
  std::unordered_map<std::uint64_t, std::uint64_t> followers_;
};

}  // namespace gable

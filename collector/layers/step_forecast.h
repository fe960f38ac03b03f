// SPDX-License-Identifier: Apache-2.0
// Which launches the next step will have: those that followed the last step's launches before.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace gable {

class StepForecast {
 public:
  static constexpr std::size_t kMostSequences = 256;  // more are not remembered

  // A step has ended; `sequence` is the hash of its launches.
  void ended(std::uint64_t sequence);
  // Nothing if the last step's launches were never followed by a step before.
  [[nodiscard]] std::optional<std::uint64_t> next() const;

 private:
  std::optional<std::uint64_t> last_;
  std::unordered_map<std::uint64_t, std::uint64_t> followers_;
};

}  // namespace gable

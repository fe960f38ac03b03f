// SPDX-License-Identifier: Apache-2.0
// How much of a stretch of a thread's time the program spent on fetching its next input.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/step_graph/recorded_steps.h"

namespace gable {

class InputTime {
 public:
  // Overlapping waits of a thread count once; one that ends before it begins does not count.
  explicit InputTime(const std::vector<InputWait>& waits);
  // The time in ns between `from_ns` and `to_ns` in which the thread fetched input.
  [[nodiscard]] std::uint64_t within(std::uint32_t thread, std::uint64_t from_ns,
                                     std::uint64_t to_ns) const;

 private:
  using Intervals = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // in order, disjoint
  std::map<std::uint32_t, Intervals> of_thread_;
};

}  // namespace gable

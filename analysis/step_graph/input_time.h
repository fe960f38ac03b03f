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
  // Waits of a thread may overlap: their time counts once. One that ends before it begins has none.
  explicit InputTime(const std::vector<InputWait>& waits);
  // The input's part of the time between, ns.
  [[nodiscard]] std::uint64_t within(std::uint32_t thread, std::uint64_t from_ns,
                                     std::uint64_t to_ns) const;

 private:
  using Intervals = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // in order, apart
  std::map<std::uint32_t, Intervals> of_thread_;
};

}  // namespace gable

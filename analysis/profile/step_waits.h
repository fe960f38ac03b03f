// SPDX-License-Identifier: Apache-2.0
// Waits in a recorded step that no call reports but that show in the times of calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/step_graph/recorded_steps.h"

namespace gable {

inline constexpr std::uint64_t kShortestWait = 20'000;  // ns; shorter gaps are a thread's own work

// Finds where one thread waited for another: PyTorch's backward pass runs on its own thread while
// its caller waits. A thread hands over to another that had been idle and whose calls all lie in
// one gap of the first. `calls`: in their order.
[[nodiscard]] std::vector<Handoff> find_handoffs(const std::vector<RecordedCall>& calls);

// The launch queue counts as full if a launch took long while this much of its stream's work had
// not begun.
inline constexpr std::size_t kFullQueue = 900;  // about 1,000 fit, event records among them
struct FullQueues {
  std::vector<QueueFull> found;
  // In the middle one of three steps, launches took long while only work from before the steps had
  // begun: how much waited, and what the host would do if it waited less, is unknown.
  bool unknown = false;
};
[[nodiscard]] FullQueues find_full_queues(const RecordedSteps& steps);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Waits of a recorded step that no call tells of, as they show in the times of calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/step_graph/recorded_steps.h"

namespace gable {

inline constexpr std::uint64_t kShortestWait = 20'000;  // ns; below it is a thread's own work

// One thread waited for another: PyTorch's backward pass runs on a thread of its own, and who
// called it stands still. A thread hands over to another whose calls all lie in one gap of the
// first, and which had stood still itself. `calls` in their order.
[[nodiscard]] std::vector<Handoff> find_handoffs(const std::vector<RecordedCall>& calls);

// The launch queue was full: a launch took long while so much of its stream had not begun.
inline constexpr std::size_t kFullQueue = 900;  // about 1,000 fit, event records among them
struct FullQueues {
  std::vector<QueueFull> found;
  // Of the middle one of three steps: launches took long while all that had begun was from before
  // the steps. How much waited is not known, and so not what the host would do if it waited less.
  bool unknown = false;
};
[[nodiscard]] FullQueues find_full_queues(const RecordedSteps& steps);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// One driver call of a step that is recorded call by call, on its way from the thread that made it.
#pragma once

#include <cstdint>

#include "analysis/events/events.h"
#include "analysis/step_graph/recorded_steps.h"

namespace gable {

struct StepCall {
  // Marks a thread's number as the default stream of that thread. No handle has this bit.
  static constexpr std::uint64_t kThreadsOwn = std::uint64_t{1} << 63;

  std::uint64_t enter_ns = 0, exit_ns = 0;
  std::uint64_t stream = 0;  // 0: no stream
  std::uint64_t object = 0;  // the event, or the instance of a graph
  WindowId window = kNoWindow;
  std::uint32_t thread = 0, context = 0, correlation = 0;
  RecordedCallKind kind = RecordedCallKind::other;
  bool legacy = false;        // the stream is the legacy default stream
  bool programmatic = false;  // as in RecordedCall
  bool copy = false;          // a launch that copies or sets memory
};

// A thread fetching the program's next input in a step recorded call by call.
struct InputCall {
  InputWait wait;
  WindowId window = kNoWindow;
};

// A stream that was made, or destroyed (then `non_blocking` is false).
struct StreamMade {
  std::uint64_t stream = 0;  // 0: none
  bool non_blocking = false;
};

}  // namespace gable

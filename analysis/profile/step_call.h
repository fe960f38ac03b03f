// SPDX-License-Identifier: Apache-2.0
// One driver call of a step that is recorded call by call, on its way from the thread that made it.
#pragma once

#include <cstdint>

#include "analysis/events/events.h"
#include "analysis/step_graph/recorded_steps.h"

namespace gable {

struct StepCall {
  // With a thread's number: the default stream of that thread. No handle has this bit.
  static constexpr std::uint64_t kThreadsOwn = std::uint64_t{1} << 63;

  std::uint64_t enter_ns = 0, exit_ns = 0;
  std::uint64_t stream = 0;  // 0: of none
  std::uint64_t object = 0;  // the event, or the instance of a graph
  WindowId window = kNoWindow;
  std::uint32_t thread = 0, context = 0, correlation = 0;
  RecordedCallKind kind = RecordedCallKind::other;
  bool legacy = false;        // the stream is the legacy default stream
  bool programmatic = false;  // as in RecordedCall
  bool copy = false;          // a launch that copies or sets memory
};

// A thread of a step that is recorded call by call fetched the program's next input.
struct InputCall {
  InputWait wait;
  WindowId window = kNoWindow;
};

// A stream was made, or is gone (then it is not `non_blocking`).
struct StreamMade {
  std::uint64_t stream = 0;  // 0: none
  bool non_blocking = false;
};

}  // namespace gable

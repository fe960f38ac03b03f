// SPDX-License-Identifier: Apache-2.0
#include "collector/session/wait_path.h"

#include <utility>

#include "collector/runtime/range_calls.h"

namespace gable {

void WaitPath::enter(ThreadState& thread) {
  const WindowId window = c_.rt.hot.span_window.load(std::memory_order_relaxed);
  if (window == kNoWindow) return;
  bool inherited = false;
  thread.wait = {layer_of_launch(c_.rt, thread, inherited), window, c_.windows.timestamp()};
}

void WaitPath::exit(ThreadState& thread) {
  const auto wait = std::exchange(thread.wait, {});
  const auto window = c_.rt.hot.span_window.load(std::memory_order_relaxed);
  if (wait.start_ns == 0 || wait.window != window) return;
  const auto now = c_.windows.timestamp();
  thread.waits.add(wait.layer, now > wait.start_ns ? now - wait.start_ns : 0);
  thread.waited_in = wait.window;
}

void WaitPath::launched_after(ThreadState& thread, const LaunchEvent& launch) {
  if (std::exchange(thread.waited_in, kNoWindow) != launch.window) return;
  Event event;
  event.kind = Event::Kind::call_after_wait;
  // Taken after Gable's own work in this call, which is not part of the latency.
  event.call_after_wait = {c_.windows.timestamp(), launch.window, launch.correlation};
  if (event.call_after_wait.entered_ns != 0) c_.sink.emit(thread, event);
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Calls that wait for the GPU: how long, in which layer, and how long the launch after them takes
// to arrive there.
#include <utility>

#include "collector/runtime/range_calls.h"
#include "collector/session/session.h"

namespace gable {

void Session::enter_wait(ThreadState& thread) {
  const WindowId window = rt_.hot.span_window.load(std::memory_order_relaxed);
  if (window == kNoWindow) return;
  bool inherited = false;
  thread.wait = {layer_of_launch(rt_, thread, inherited), window, windows_.timestamp()};
}

void Session::exit_wait(ThreadState& thread) {
  const auto wait = std::exchange(thread.wait, {});
  if (wait.start_ns == 0 || wait.window != rt_.hot.span_window.load(std::memory_order_relaxed))
    return;
  const auto now = windows_.timestamp();
  thread.waits.add(wait.layer, now > wait.start_ns ? now - wait.start_ns : 0);
  thread.waited_in = wait.window;
}

void Session::call_after_wait(ThreadState& thread, const LaunchEvent& launch) {
  if (std::exchange(thread.waited_in, kNoWindow) != launch.window) return;
  Event event;
  event.kind = Event::Kind::call_after_wait;
  // Taken after our own work in this call, which is none of the latency.
  event.call_after_wait = {windows_.timestamp(), launch.window, launch.correlation};
  if (event.call_after_wait.entered_ns != 0) sink_.emit(thread, event);
}

}  // namespace gable

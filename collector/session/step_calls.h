// SPDX-License-Identifier: Apache-2.0
// Records single calls in steps that ask for it: when each began and ended, and what it did. In
// other steps a call costs one atomic load. Runs within the program's own driver calls.
#pragma once

#include <cstdint>

#include "collector/cupti/launch_calls.h"
#include "collector/layers/thread_state.h"
#include "collector/session/collection.h"

namespace gable {

class StepCalls {
 public:
  explicit StepCalls(Collection& collection) : c_(collection) {}

  // Called at ENTER, after Gable's other work. `window`: the window of what it launches, if any.
  void enter(ThreadState& thread, std::uint32_t correlation, WindowId window = kNoWindow) {
    const WindowId recorded = c_.rt.hot.call_window.load(std::memory_order_relaxed);
    if (recorded != kNoWindow) begin(thread, correlation, window != kNoWindow ? window : recorded);
  }
  // Called at EXIT, before Gable's other work.
  void exit(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
    if (thread.call.window != kNoWindow) end(thread, id, data);
  }
  // Says that this thread begins to fetch the program's next input. Returns false if that is not
  // recorded or already begun; then end_input() may not follow.
  [[nodiscard]] bool begin_input();
  void end_input();
  // Follow every stream: made() is called at EXIT, gone() at ENTER.
  void made(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void gone(ThreadState& thread, const CUpti_CallbackData& data);

 private:
  void begin(ThreadState& thread, std::uint32_t correlation, WindowId window);
  void end(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);

  Collection& c_;
};

}  // namespace gable

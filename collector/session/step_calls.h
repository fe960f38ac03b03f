// SPDX-License-Identifier: Apache-2.0
// Calls of steps that are recorded call by call: when each began and ended, and what it did.
// Outside of such steps a call costs one look at an atomic. Runs within the program's own driver
// calls.
#pragma once

#include <cstdint>

#include "collector/cupti/launch_calls.h"
#include "collector/layers/thread_state.h"
#include "collector/session/collection.h"

namespace gable {

class StepCalls {
 public:
  explicit StepCalls(Collection& collection) : c_(collection) {}

  // At ENTER, after all else of ours. `window`: that of what it launches, if it is in one.
  void enter(ThreadState& thread, std::uint32_t correlation, WindowId window = kNoWindow) {
    const WindowId recorded = c_.rt.hot.call_window.load(std::memory_order_relaxed);
    if (recorded != kNoWindow) begin(thread, correlation, window != kNoWindow ? window : recorded);
  }
  // At EXIT, before all else of ours.
  void exit(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
    if (thread.call.window != kNoWindow) end(thread, id, data);
  }
  // The calling thread fetches the program's next input, until end_input(). False: that is not
  // recorded, or is already, and no end is to come.
  [[nodiscard]] bool begin_input();
  void end_input();
  // Streams, of which every one is followed; at EXIT and at ENTER.
  void made(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);
  void gone(ThreadState& thread, const CUpti_CallbackData& data);

 private:
  void begin(ThreadState& thread, std::uint32_t correlation, WindowId window);
  void end(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data);

  Collection& c_;
};

}  // namespace gable

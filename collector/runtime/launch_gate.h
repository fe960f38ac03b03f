// SPDX-License-Identifier: Apache-2.0
// Which threads are between a launch's ENTER and its EXIT, so that nothing is started or stopped in
// CUPTI under a launch that is on its way.
//
// A launch passes at every kernel of the program, a wait happens a few times a run. So the memory
// fence that both sides need is made by the one that waits, for all threads at once (membarrier);
// where the kernel refuses that, every launch makes its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "collector/layers/thread_state.h"

namespace gable {

class LaunchGate {
 public:
  LaunchGate();

  // From here on wait_for_others() waits for this thread. What the launch decides by is read after.
  void enter(ThreadState& thread, std::uint32_t correlation) const {
    thread.passing_id.store(correlation, std::memory_order_relaxed);
    auto& passing = thread.passing;
    const auto last = passing.load(std::memory_order_relaxed);
    const auto next = last + 1 + (last & 1);  // an EXIT may have been missed
    if (fenced_) {
      passing.exchange(next, std::memory_order_seq_cst);
    } else {
      passing.store(next, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // of the compiler alone
    }
  }
  static void leave(ThreadState& thread) {
    auto& passing = thread.passing;
    const auto last = passing.load(std::memory_order_relaxed);
    if ((last & 1) != 0) passing.store(last + 1, std::memory_order_release);
  }

  // Waits until every other thread that was in a launch has left it. What such a launch must not
  // meet any more was published before. Returns the correlation ids of those that did not leave
  // while none left for `patience`, or for four times as long in all: a launch may be blocked for
  // as long as the GPU is busy. Each is waited for once. One caller at a time.
  [[nodiscard]] std::vector<std::uint32_t> wait_for_others(
      std::chrono::milliseconds patience) const;

 private:
  bool fenced_ = true;
};

}  // namespace gable

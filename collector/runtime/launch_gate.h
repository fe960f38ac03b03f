// SPDX-License-Identifier: Apache-2.0
// Which threads are between a launch's ENTER and its EXIT, so that nothing is started or stopped in
// CUPTI during a launch.
//
// Every kernel launch passes the gate; a wait happens a few times per run. So the waiting side
// makes the memory fence that both sides need, for all threads at once (membarrier); if the kernel
// refuses that, every launch makes its own.
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

  // From here on wait_for_others() waits for this thread. Read what the launch depends on after
  // this.
  void enter(ThreadState& thread, std::uint32_t correlation) const {
    thread.passing_id.store(correlation, std::memory_order_relaxed);
    auto& passing = thread.passing;
    const auto last = passing.load(std::memory_order_relaxed);
    const auto next = last + 1 + (last & 1);  // an EXIT may have been missed
    if (fenced_) {
      passing.exchange(next, std::memory_order_seq_cst);
    } else {
      passing.store(next, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // a compiler fence only
    }
  }
  static void leave(ThreadState& thread) {
    auto& passing = thread.passing;
    const auto last = passing.load(std::memory_order_relaxed);
    if ((last & 1) != 0) passing.store(last + 1, std::memory_order_release);
  }

  // Waits until every other thread that was in a launch has left it; publish first what launches
  // must no longer see. Returns the correlation ids of launches still in progress after none left
  // for `patience`, or after four times that: a launch may block as long as the GPU is busy. Each
  // is waited for once. One caller at a time.
  [[nodiscard]] std::vector<std::uint32_t> wait_for_others(
      std::chrono::milliseconds patience) const;

 private:
  bool fenced_ = true;
};

}  // namespace gable

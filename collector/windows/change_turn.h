// SPDX-License-Identifier: Apache-2.0
// One thread at a time makes CUPTI follow a change of phase; others wait for it at their launch, a
// bounded time. Not a mutex: CUPTI is called meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "analysis/base/mutex.h"
#include "collector/layers/thread_state.h"
#include "collector/process/clock.h"

namespace gable {

class ChangeTurns {
 public:
  // `gave_up`: a thread of the program's has waited for too long.
  explicit ChangeTurns(std::function<void()> gave_up) : gave_up_(std::move(gave_up)) {}

  // What changes took on the program's threads so far, waiting for one of another thread too.
  [[nodiscard]] std::uint64_t spent_ns() const { return spent_ns_.load(std::memory_order_relaxed); }
  void forget_spent() { spent_ns_.store(0, std::memory_order_relaxed); }

 private:
  friend class ChangeTurn;
  const std::function<void()> gave_up_;
  std::atomic<std::uint64_t> spent_ns_{0};
  Mutex mutex_;  // held for the flag alone
  Condition given_back_;
  bool taken_ GABLE_GUARDED_BY(mutex_) = false;
};

// A thread's turn. While it is held, what CUPTI launches out of our calls is not the program's.
class ChangeTurn {
 public:
  // The first counter window of a context can take seconds.
  static constexpr std::chrono::seconds kPatience{10};

  // A thread of ours has no patience: it comes again.
  explicit ChangeTurn(ChangeTurns& turns, std::chrono::seconds patience = kPatience);
  ~ChangeTurn();
  ChangeTurn(const ChangeTurn&) = delete;
  ChangeTurn& operator=(const ChangeTurn&) = delete;
  [[nodiscard]] bool held() const { return held_; }

 private:
  ChangeTurns& turns_;
  ThreadState& thread_ = this_thread();
  const std::uint64_t began_ns_ = steady_ns();
  const bool of_program_;
  bool held_ = false;
};

}  // namespace gable

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
#include "analysis/base/no_cancel.h"
#include "collector/layers/thread_state.h"
#include "collector/process/clock.h"

namespace gable {

class ChangeTurns {
 public:
  // `gave_up` is called when a thread of the program has waited too long.
  explicit ChangeTurns(std::function<void()> gave_up) : gave_up_(std::move(gave_up)) {}

  // Time that changes took on the program's threads so far, including waits for each other.
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

// A thread's turn. While it is held, launches by CUPTI from within our calls are not the program's.
class ChangeTurn {
 public:
  // The first counter window of a context can take seconds.
  static constexpr std::chrono::seconds kPatience{10};

  // Gable's own threads pass a patience of 0: they do not wait but try again later.
  explicit ChangeTurn(ChangeTurns& turns, std::chrono::seconds patience = kPatience);
  ~ChangeTurn();
  ChangeTurn(const ChangeTurn&) = delete;
  ChangeTurn& operator=(const ChangeTurn&) = delete;
  [[nodiscard]] bool held() const { return held_; }

 private:
  const NoCancel no_cancel_;  // the change is made whole
  ChangeTurns& turns_;
  ThreadState& thread_ = this_thread();
  const std::uint64_t began_ns_ = steady_ns();
  const bool of_program_;
  bool held_ = false;
};

}  // namespace gable

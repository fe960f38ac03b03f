// SPDX-License-Identifier: Apache-2.0
// The launches in which a period is looked for: those of one thread. Threads run at their own pace,
// so their launches interleave differently in every step, but each thread's own order is stable.
// The first thread that launches is followed until others have launched four times as much or,
// while a period is followed, until it has launched nothing for long. Launches of other threads
// belong to the open step. Pure code: any pointer identifies a thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/queue/period_finder.h"

namespace gable {

class LaunchSequence {
 public:
  // While a period is followed: how many launches of other threads in a row, beyond four periods,
  // have another thread followed.
  static constexpr std::uint32_t kPatience = 20000;

  explicit LaunchSequence(const JoinChecks& checks = {}) : finder_(checks) {}

  // Called on the launching thread. Takes no lock: if two threads call at once, one call is
  // ignored.
  PeriodMark add(const void* thread, std::uint64_t key, std::uint32_t kernels = 1) {
    if (leader_.load(std::memory_order_relaxed) != thread && !takes_over(thread))
      return PeriodMark::none;
    if (inside_.exchange(true, std::memory_order_acquire)) return PeriodMark::none;
    const auto mark = add_alone(key, kernels);
    inside_.store(false, std::memory_order_release);
    return mark;
  }

  // Launches in the period that is followed; 0 if none is.
  [[nodiscard]] std::uint32_t length() const { return length_.load(std::memory_order_relaxed); }
  // Same as PeriodFinder::hopeful().
  [[nodiscard]] bool hopeful() const { return hopeful_.load(std::memory_order_relaxed); }
  // Called when launches were missed.
  void skip();

 private:
  bool takes_over(const void* thread);
  PeriodMark add_alone(std::uint64_t key, std::uint32_t kernels);

  std::atomic<const void*> leader_{nullptr};
  std::atomic<bool> inside_{false};
  std::atomic<bool> new_leader_{false};
  // Recent launches of the followed thread and of the others.
  std::atomic<std::uint32_t> own_{0}, others_{0};
  std::atomic<std::uint32_t> length_{0};
  std::atomic<bool> hopeful_{true};
  PeriodFinder finder_;  // used by the thread that set inside_
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The launches in which a period is looked for: those of one thread. Threads run at their own pace,
// so that the launches of all of them come in another order in every step; each thread's own do
// not. Followed is the first thread that launches, until others launched four times as much; while
// a period is followed, until it launched nothing for long. What other threads launch belongs to
// the step that is open. Pure code: a thread is told by any pointer.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/queue/period_finder.h"

namespace gable {

class LaunchSequence {
 public:
  // Launches of others, while a period is followed.
  static constexpr std::uint32_t kPatience = 20000;

  explicit LaunchSequence(const JoinChecks& checks = {}) : finder_(checks) {}

  // From the launching thread. Without a lock: of two threads that come at once one is not
  // followed.
  PeriodMark add(const void* thread, std::uint64_t key, std::uint32_t kernels = 1) {
    if (leader_.load(std::memory_order_relaxed) != thread && !takes_over(thread))
      return PeriodMark::none;
    if (inside_.exchange(true, std::memory_order_acquire)) return PeriodMark::none;
    const auto mark = add_alone(key, kernels);
    inside_.store(false, std::memory_order_release);
    return mark;
  }

  // Launches of the period that is followed; 0: none is.
  [[nodiscard]] std::uint32_t length() const { return length_.load(std::memory_order_relaxed); }
  // As the finder says.
  [[nodiscard]] bool hopeful() const { return hopeful_.load(std::memory_order_relaxed); }
  // Launches were missed.
  void skip();

 private:
  bool takes_over(const void* thread);
  PeriodMark add_alone(std::uint64_t key, std::uint32_t kernels);

  std::atomic<const void*> leader_{nullptr};
  std::atomic<bool> inside_{false};
  std::atomic<bool> new_leader_{false};
  std::atomic<std::uint32_t> own_{0}, others_{0};  // launches of late
  std::atomic<std::uint32_t> length_{0};
  std::atomic<bool> hopeful_{true};
  PeriodFinder finder_;  // by whoever is inside
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Falls back when CUPTI refuses counters: tells the ladder what failed, has the queue follow its
// answer, and tells the user in one sentence once it is known what works instead.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/mutex.h"
#include "collector/counters/counters.h"
#include "collector/runtime/runtime.h"
#include "collector/windows/window_queue.h"

namespace gable {

class CountingFallback {
 public:
  struct Trouble {
    CountingLadder::Cause cause = CountingLadder::Cause::refused;
    std::string what;  // a sentence
  };
  CountingFallback(Runtime& rt, Counters& counters) : rt_(rt), counters_(counters) {}

  // --- what may wait for other ranks
  void saw_communicator() { communicator_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool communicator_seen() const {
    return communicator_.load(std::memory_order_relaxed);
  }
  // Says that a kernel that may wait for other ranks was launched.
  void saw_collective() { collective_.store(true, std::memory_order_relaxed); }
  // Says that a CUDA graph was launched: CUPTI makes no automatic ranges of one, and on an H200 the
  // window cannot be stopped after it.
  void saw_graph() {  // written once: every launch of a graph comes here
    if (!graph_.load(std::memory_order_relaxed)) graph_.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] CountingLadder::Allowed allowed() const;

  // --- what failed
  [[nodiscard]] Trouble trouble_of(const CuptiFailure& failure);
  // The trouble that a window shows once it was read, if any.
  [[nodiscard]] std::optional<Trouble> trouble_of(const EndedWindow& window,
                                                  const CountersOutcome& outcome);

  // --- how it goes on. With the queue's lock.
  void fall_back(WindowQueue& queue, PhaseKind kind, const Trouble& trouble)
      GABLE_REQUIRES(queue.mutex());
  void follow(WindowQueue& queue, PhaseKind kind, const CountingLadder::Step& step,
              const std::string& why) GABLE_REQUIRES(queue.mutex());
  // Returns how the next window of the kind takes its ranges.
  [[nodiscard]] RangeMode choose_mode(WindowQueue& queue, PhaseKind kind)
      GABLE_REQUIRES(queue.mutex());

  // --- without the queue's lock
  // Stops for good, whatever else might work; `failed`: the sentence of a failed call.
  void stop_counting(WindowQueue& queue, const std::string& failed);
  // Limits windows of launches to as many launches as CUPTI takes ranges.
  void cut_windows(WindowQueue& queue);
  // Tells the user what is due once a window of the kind was kept or the queue has ended.
  void say_owed(WindowQueue& queue, PhaseKind worked = PhaseKind::off);
  // Tells the user everything still due, because the process ends in an unusual way.
  void say_what_is_left();

 private:
  // What to tell the user once a window of `until` was kept or the program ends; off: at once.
  struct Owed {
    std::string why, what;
    PhaseKind of, until;
  };
  void owe(Owed owed);
  [[nodiscard]] std::string why_of(PhaseKind kind);
  void say(const std::vector<Owed>& due);

  Runtime& rt_;
  Counters& counters_;
  std::atomic<bool> communicator_{false};  // NCCL has a communicator of several ranks
  std::atomic<bool> collective_{false};
  std::atomic<bool> graph_{false};
  std::atomic<std::size_t> most_told_{~std::size_t{0}};  // fewest ranges told as a limit of windows
  Mutex mutex_;  // guards only the list; taken with or without the queue's lock
  std::vector<Owed> owed_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What each window of a run collects and which windows are kept: the queue, the judge and what is
// known of the launch keys, put together. Pure code, no CUDA: Windows makes CUPTI follow it, and
// the simulation drives it over made-up programs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "analysis/events/join_checks.h"
#include "analysis/profile/key_choice.h"
#include "analysis/profile/key_progress.h"
#include "collector/queue/budget.h"
#include "collector/queue/phase_queue.h"
#include "collector/queue/range_join.h"
#include "collector/queue/window_judge.h"

namespace gable {

class Planner {
 public:
  explicit Planner(const QueueOptions& options, JoinChecks checks = {})
      : queue_(options), checks_(checks), budget_(options.budget) {}

  // What the next window collects; nothing while the budget has no room for it.
  [[nodiscard]] Phase next() const;
  // The chip's plan is made: hardware passes, and whether FLOPs can be counted.
  void set_passes(std::uint32_t groups, bool flops);
  [[nodiscard]] bool planned() const { return planned_; }
  void give_up(PhaseKind kind) { queue_.give_up(kind); }
  // Trusts hardware counters again, because they are taken in another way from here on.
  void trust_again();
  void take_again(PhaseKind kind);
  // Discards what was collected and collects it again.
  void collect_again() { queue_.collect_again(); }
  void share(std::uint32_t contexts) { queue_.share(contexts); }
  // Records a step with that hash of launches before the first window.
  void saw_step(std::uint64_t hash) { queue_.saw_step(checks_.classes ? hash : 0); }

  // Judges the window announced by next(), which ended. `spoilt`: why it cannot be kept, if already
  // known.
  [[nodiscard]] Verdict ended(const WindowFacts& facts, const std::string& spoilt);
  // What to ask of the profile once the content of a kept window is in it, and the answer.
  [[nodiscard]] ProgressQuery query(const WindowFacts& facts) const;
  void progress(const WindowFacts& facts, const KeyNeeds& needs);
  // The counters of a window that ended as kept were read; a window that did not verify is taken
  // again.
  void counters_read(const WindowFacts& facts, const CountersOutcome& outcome);

  // --- with --budget
  [[nodiscard]] Budget& budget() { return budget_; }
  // Asks which keys the counter window from next() takes; chosen() is the answer.
  [[nodiscard]] ChoiceRequest choice() const;
  void chosen(const KeyChoice& choice) { least_ = choice.enough() ? 0 : choice.least; }
  // Returns true once, when the budget will never have room and everything was given up.
  [[nodiscard]] bool take_hopeless();

  // Returns true once, if thread blocks never matched: FLOPs are not collected any more, because
  // they could not be trusted.
  [[nodiscard]] bool take_distrust() { return std::exchange(tell_distrust_, false); }

  [[nodiscard]] const PhaseQueue& queue() const { return queue_; }
  [[nodiscard]] const JoinChecks& checks() const { return checks_; }

 private:
  [[nodiscard]] std::uint64_t class_of(const WindowFacts& facts) const {
    return facts.steps && checks_.classes ? facts.hash : 0;
  }

  void distrust();

  PhaseQueue queue_;
  JoinChecks checks_;
  Budget budget_;
  bool planned_ = false;     // the chip's plan is made
  bool timing_ = false;      // a time window is done: the others follow at once
  bool gave_up_ = false;     // the budget will never have room
  std::uint64_t least_ = 0;  // known minimum of launches that need room
  std::uint32_t groups_ = 0;
  bool tried_ = false, verified_ = false;  // hw windows were tried; one had matching blocks
  bool distrusted_ = false, tell_distrust_ = false;
};

}  // namespace gable

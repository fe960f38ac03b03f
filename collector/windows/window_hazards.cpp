// SPDX-License-Identifier: Apache-2.0
// What counter windows must make room for: captures, collectives, modules that come late.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "collector/windows/window_change.h"

namespace gable {

void Windows::before_capture() {
  if (rt_.hot.pending.load(std::memory_order_acquire)) (void)apply_pending();
  auto& thread = this_thread();
  if (thread.busy || !rt_.hot.counters.load(std::memory_order_relaxed)) return;
  if (!are_pushed(counters_.mode()) && counters_.active()) {
    // What waits after every launch cannot while a stream captures.
    const Change change(*this);
    if (change.held()) (void)counters_.drop();
    return;
  }
  thread.busy = true;
  counters_.close_ranges();
  thread.busy = false;
}

// All ranks make their communicator in the same step: the queue that begins with it is the same for
// all of them.
void Windows::communicator_made(Communicator which) {
  const bool own = which == Communicator::own_gpus;
  if (!own && told_ranks() == Ranks::one) return;
  communicator_.store(true, std::memory_order_relaxed);
  if (own || rt_.ranks.exchange(true)) return;  // windows are this process's, of all its GPUs
  const MutexLock hold(control_mutex_);
  if (state_.ended()) return;
  const auto due = planner_.queue().next().kind;
  if (measures(due) || state_.collects()) {
    rt_.notes.record(
        "NCCL made a communicator when measuring had begun: other ranks may have been in other "
        "windows, and collectives waited for them.");
    return;
  }
  limited_.store(false);
  // Ranks need not find the same period, nor the same range at the same step.
  const auto border = border_.load();
  if (border == Border::period || border == Border::recurring) {
    border_.store(Border::launches);
    launches_.store(0);
  }
  start_queue();
  if (rt_.settings.budget) rt_.notes.say(std::string(kNoBudgetWithRanks));
}

void Windows::before_collective() {
  collective_.store(true, std::memory_order_relaxed);
  if (are_pushed(counters_.mode()) || this_thread().busy) return;
  const bool replay = counters_.mode() == RangeMode::replay;
  bool counted = false;  // in the window that is open
  std::string instead = " Ranges are Gable's own.";
  const std::string seen = communicator_seen()
                               ? "NCCL made a communicator, so kernels may wait for other ranks: "
                               : "A kernel of NCCL was launched, which may wait for other ranks: ";
  {
    const Change change(*this);
    if (!change.held() || are_pushed(counters_.mode())) return;
    counted = counters_.active();
    (void)counters_.drop();
    if (!counters_.hangs()) (void)counters_.close();
    counters_.set_mode(RangeMode::user);
    if (counted) flaw(kCollective);
    if (!replay) {
      const MutexLock hold(control_mutex_);
      auto step = ladder_.forbid_automatic(allowed());
      if (!step.sentence.empty()) instead = " " + std::exchange(step.sentence, {});
      follow_ladder(PhaseKind::hw, step, {});
    } else {
      stop_counting(seen + "no kernel is replayed.");
      const MutexLock hold(control_mutex_);
      if (counted || !state_.counts()) return;
      choose_again({});
      ask_for_change();
    }
  }
  if (replay)
    (void)apply_pending();
  else
    rt_.notes.say(seen + "nothing waits after every launch any more." + instead);
}

// Instrumented code counts nothing in a module that was loaded too late to be patched. Where that
// would pass for a kernel without operations, they are unknown.
void Windows::forget_unpatched(const Closing& closing, CountersOutcome& outcome) {
  if ((closing.facts.flaws & kModuleLoaded) == 0) return;
  const MetricPlan* plan = hooks_.wait_for_plan();
  std::vector<std::size_t> patched;
  for (std::size_t pass = 0; plan != nullptr && pass < plan->passes.size(); ++pass) {
    if (plan->passes[pass].phase != closing.end.phase) continue;
    const auto& metrics = plan->passes[pass].metrics;
    for (std::size_t i = 0; i < metrics.size(); ++i)
      if (metrics[i].find("__sass_") != std::string::npos) patched.push_back(i);
  }
  for (auto& result : outcome.contexts) {
    for (std::size_t row = 0; row < result.keys.size(); ++row) {
      if (result.newest[row] < closing.first_new) continue;
      double* const values = result.values.data() + row * result.metrics;
      const bool counted = std::any_of(patched.begin(), patched.end(),
                                       [&](std::size_t i) { return values[i] != 0; });
      for (const std::size_t i : patched)
        if (!counted) values[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace gable

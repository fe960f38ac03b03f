// SPDX-License-Identifier: Apache-2.0
// Which launches of a counter window get ranges: with --budget those of the keys there is room for.
#include <memory>
#include <optional>
#include <utility>

#include "collector/windows/windows.h"

namespace gable {

Phase Windows::choose_keys(Phase phase) {
  chosen_.reset();
  if (!limited_) return phase;
  if (planner_.take_hopeless()) {
    rt_.notes.say(
        "Following the launches alone takes more than --budget allows: nothing (more) is "
        "collected.");
    phase = planner_.next();
  }
  if (!is_counter(phase)) return phase;
  auto request = planner_.choice();
  request.query.counted = hooks_.counted;
  request.windows = counts_.seen;
  request.all = !are_pushed(ladder_.mode(phase.kind));
  auto choice =
      sink_.with_profile([&](Profile& profile) { return gable::choose_keys(profile, request); });
  planner_.chosen(choice);
  if (!choice.enough()) return {PhaseKind::wait, 0};
  chosen_ = std::make_shared<const KeyChoice>(std::move(choice));
  return phase;
}

bool Windows::is_chosen(const LaunchKey& key) {
  if (!limited_) return true;
  const MutexLock hold(control_mutex_);
  return chosen_ == nullptr || chosen_->keys.contains(key);
}

Windows::Entered Windows::enter_as_it_is(ThreadState& thread, std::uint32_t correlation) {
  gate_.enter(thread, correlation);
  Entered entered;
  entered.step = rt_.hot.step.load(std::memory_order_acquire);
  if (!rt_.hot.pending.load(std::memory_order_seq_cst))
    entered.window = rt_.hot.window.load(std::memory_order_acquire);
  return entered;
}

// Borders come on other threads at any moment, and each asks for a change before it tells of
// itself. So what was read counts where no change was asked for after it was read: then whoever
// carries out the next one waits for this launch.
Windows::Entered Windows::enter(ThreadState& thread, const Counters::Place& place,
                                std::uint32_t correlation) {
  for (;;) {
    std::optional<WindowId> joined = kNoWindow;
    if (rt_.hot.counters.load(std::memory_order_acquire)) joined = join_window(place);
    gate_.enter(thread, correlation);
    Entered entered;
    entered.step = rt_.hot.step.load(std::memory_order_acquire);
    if (!joined) return entered;  // another thread hangs in CUPTI
    entered.window = rt_.hot.window.load(std::memory_order_acquire);
    entered.counts = rt_.hot.counters.load(std::memory_order_acquire);
    const bool settled = !rt_.hot.pending.load(std::memory_order_seq_cst) &&
                         rt_.hot.step.load(std::memory_order_relaxed) == entered.step &&
                         (!entered.counts || *joined == entered.window);
    if (settled) return entered;
    gate_.leave(thread);
    if (rt_.hot.pending.load(std::memory_order_acquire) && !apply_pending()) {
      gate_.enter(thread, correlation);
      return {kNoWindow, entered.step, false};
    }
  }
}

bool Windows::range_launch(const Counters::Place& place, const LaunchKey& key, bool wanted,
                           std::uint32_t kernels) {
  auto& thread = this_thread();
  const auto ordinal = ordinal_.fetch_add(1, std::memory_order_relaxed);
  wanted = wanted && is_chosen(counters_.counted_key(key));
  thread.busy = true;
  const bool ranged = counters_.before_launch(place, ordinal, key, wanted, kernels);
  thread.busy = false;
  return ranged;
}

}  // namespace gable

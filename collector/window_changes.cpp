// SPDX-License-Identifier: Apache-2.0
// How CUPTI is made to follow the phase: by the next launch after a border, on its own thread,
// while every other launch waits.
#include <utility>

#include "collector/range_calls.h"
#include "collector/remedies.h"
#include "collector/window_change.h"

namespace gable {
bool Windows::apply_pending() {
  if (this_thread().busy) return false;
  const Change change(*this);
  if (!change.held()) return false;
  while (rt_.hot.pending.load(std::memory_order_acquire)) settle();
  return true;
}

// The counters of a window that ended. One that cannot be kept is collected again.
void Windows::read_counters(Closing closing) {
  auto& end = closing.end;
  auto outcome = counters_.finish();
  const bool was_kept = end.keep;
  if (!end.keep) {
    outcome.keep = false;
  } else if (!outcome.keep) {
    end.keep = false;
    end.reason = outcome.reason;
  }
  if (outcome.keep && counters_.mode() == RangeMode::replay) forget_unpatched(closing, outcome);
  const auto believed = [&closing](FunctionId newest) {
    return closing.new_functions == 0 || newest < closing.new_functions;
  };
  const ProgressQuery query = [&] {
    const std::lock_guard hold(control_mutex_);
    auto asked = planner_.query(closing.facts);
    asked.counted = hooks_.counted;
    return asked;
  }();
  const auto needs = sink_.with_profile([&](Profile& profile) {
    if (outcome.keep) {
      for (const auto& result : outcome.contexts) {
        for (std::size_t i = 0; i < result.keys.size(); ++i) {
          if (!believed(result.newest[i])) continue;
          const CounterSample sample{result.keys[i], result.values.data() + i * result.metrics,
                                     result.launches[i]};
          profile.add(end.phase, end.window, sample);
          if (auto* recorder = sink_.recorder()) recorder->add(end.phase, end.window, sample);
        }
      }
    }
    sink_.end_window_locked(end);
    LostCounts lost;
    lost.ranges = outcome.lost_ranges;
    profile.add_lost(lost);
    return outcome.keep ? key_needs(profile, query) : KeyNeeds{};
  });
  if (!end.keep && !end.reason.empty()) {
    rt_.notes.record("A window of phase " + to_string(end.phase) +
                     " was thrown away: " + end.reason);
  }
  if (!outcome.failed.empty()) stop_counting(outcome.failed);
  const std::lock_guard hold(control_mutex_);
  if (outcome.too_small) range_factor_ *= 2;
  if (!was_kept) return;
  planner_.counters_read(closing.facts, outcome);
  if (planner_.take_distrust()) {
    rt_.notes.say(
        "The counters of a launch are not its own here (no window's counts of thread blocks "
        "fitted), so operations are not counted either; --ranges auto takes the launches one by "
        "one.");
  }
  if (end.keep) {
    ++(end.phase.kind == PhaseKind::hw ? counts_.hw : counts_.flops);
    planner_.progress(closing.facts, needs);
  }
  // The window that began meanwhile has no launch yet.
  if (in_window_ && planner_.next() != phase_ && (!limited_ || is_counter(phase_)))
    choose_again({});
}

// One unexpected answer is enough: what state CUPTI is in then, nobody knows. A call that has not
// returned may still do so; until then nothing is begun.
void Windows::stop_counting(const std::string& failed) {
  if (counters_.hangs()) {
    rt_.notes.say(failed + " Your program runs on; what is missing stays unknown.");
    return;
  }
  const bool runs_on = counters_.runs_on();
  rt_.notes.say(failed + (runs_on ? " CUPTI cannot be stopped, so nothing more is collected."
                                  : " No more counters are taken."));
  const std::lock_guard hold(control_mutex_);
  planner_.give_up(PhaseKind::hw);
  planner_.give_up(PhaseKind::flops);
  if (runs_on) planner_.give_up(PhaseKind::time);
  counting_stopped_ = true;
}

void Windows::start_activity() {
  auto failed = counters_.close().sentence;
  if (counters_.hangs()) flaw(kStuck);
  if (failed.empty() && counters_.hangs()) return;  // said already
  std::string partly;
  if (failed.empty())
    failed = activity_.enable(partly);
  else
    failed += " Kernel times without counters are not taken.";
  if (!partly.empty()) rt_.notes.say(partly);
  if (failed.empty()) return;
  rt_.notes.say(failed);
  const std::lock_guard hold(control_mutex_);
  planner_.give_up(PhaseKind::time);
  if (in_window_ && phase_.kind == PhaseKind::time) choose_again({});
}

void Windows::let_go() {
  rt_.hot.watching.store(false, std::memory_order_release);
  set_ranges_active(false);
  if (const auto failure = counters_.close(); failure.failed())
    rt_.notes.say(failure.sentence + " Your program may run slower than without Gable.");
  activity_.disable();
  hooks_.over();
}

void Windows::settle() {
  std::optional<Closing> closing;
  std::uint64_t asked = 0;
  const auto began = limited_ ? timestamp() : 0;
  {
    const std::lock_guard hold(control_mutex_);
    asked = asked_;
    closing.swap(closing_);
  }
  if (closing) read_counters(std::move(*closing));
  // Whether code that was loaded since the profiler was enabled gets instrumented is not
  // documented.
  bool disable = modules_loaded_.exchange(false, std::memory_order_relaxed);
  bool over = false, time = false, counter = false, idle = false;
  {
    const std::lock_guard hold(control_mutex_);
    disable = std::exchange(counting_stopped_, false) || disable;
    over = over_ && !told_over_;
    told_over_ = told_over_ || over_;
    time = in_window_ && phase_.kind == PhaseKind::time;
    counter = in_window_ && is_counter(phase_);
    idle = idle_;
  }
  if (disable && !counters_.hangs()) (void)counters_.close();
  if (time && !activity_.enabled()) {
    start_activity();
  } else if (counter && (activity_.enabled() || std::exchange(rested_, false))) {
    activity_.pause();  // both instrument code, and together they are a reported hang
  } else if (idle && activity_.enabled()) {
    activity_.disable();
    rested_ = true;
  }
  if (over) let_go();
  // Only now may other launches pass; a border that came meanwhile asks for another turn.
  const std::lock_guard hold(control_mutex_);
  if (limited_) planner_.budget().settled(timestamp() - began);
  if (asked == asked_) rt_.hot.pending.store(false, std::memory_order_release);
}

// Begins the window that is open on the context of a launch, unless that is done. False: start
// anew, things have changed. `joined`: the launch can be ranged.
bool Windows::join_window(const Counters::Place& place, bool& joined) {
  joined = false;
  if (rt_.hot.pending.load(std::memory_order_acquire)) return !apply_pending();
  Phase phase;
  WindowId window = kNoWindow;
  {
    const std::lock_guard hold(control_mutex_);
    if (!in_window_ || !is_counter(phase_)) return true;
    phase = phase_;
    window = window_;
  }
  if (counters_.begun(place, window)) return joined = true;
  CuptiFailure refused;
  {
    const Change change(*this);
    if (!change.held()) return true;
    if (rt_.hot.pending.load(std::memory_order_acquire)) return false;
    if (counters_.begun(place, window)) return joined = true;  // by the thread we waited for
    refused = counters_.begin(place, window, phase, max_ranges_.load(std::memory_order_relaxed));
  }
  if (!refused.failed()) return joined = true;
  refuse(refused);
  return true;
}

// A window could not begin: every other would fail alike. The queue goes on without counters,
// beginning with this very window.
void Windows::refuse(const CuptiFailure& failure) {
  if (counters_.hangs()) {
    flaw(kStuck);
    return;
  }
  stop_counting(failure.sentence);
  {
    const std::lock_guard hold(control_mutex_);
    if (!in_window_ || !is_counter(phase_)) return;
    // Another context counts: not from its middle on.
    if (ordinal_.load(std::memory_order_relaxed) > 0) {
      flaw(kRefused);
      return;
    }
    choose_again("Counters were refused.");
    ask_for_change();
  }
  (void)apply_pending();
}

// Counters may be why no kernel comes: what the program waits for may need another launch, or CUPTI
// holds it. The thread that would end the window may be blocked in the driver.
void Windows::check_progress(std::chrono::milliseconds patience) {
  const auto now = std::chrono::steady_clock::now();
  const auto progress = (std::uint64_t{rt_.hot.step.load(std::memory_order_relaxed)} << 32) |
                        ordinal_.load(std::memory_order_relaxed);
  const bool waits = rt_.hot.watching.load(std::memory_order_relaxed) && counters_.active();
  if (!waits || progress != progress_) {
    progress_ = progress;
    progress_since_ = now;
    return;
  }
  if (now - progress_since_ < patience) return;
  {
    const Change change(*this, std::chrono::seconds(0));
    if (!change.held()) return;  // that thread is in CUPTI, which is not to be disturbed
    (void)counters_.drop();
    if (!counters_.hangs()) (void)counters_.close();
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
  const auto sentence = "No kernel was launched for " + std::to_string(seconds) +
                        " s while counters were taken; that window was ended.";
  stop_counting(sentence);
  const std::lock_guard hold(control_mutex_);
  if (closing_) {
    closing_->end.keep = false;
    closing_->end.reason = sentence;
  }
  if (in_window_ && is_counter(phase_)) choose_again(sentence);
}

void Windows::context_ends(CUcontext context) {
  if (this_thread().busy) return;
  const Change change(*this);
  if (!change.held()) {
    counters_.abandon_context(context);  // whoever holds the change hangs in CUPTI
    return;
  }
  counters_.end_context(context);
  if (activity_.enabled()) hooks_.records_now();
}

}  // namespace gable

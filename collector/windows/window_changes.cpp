// SPDX-License-Identifier: Apache-2.0
// How CUPTI is made to follow the phase: by the next launch after a border, on its own thread,
// while every other launch waits.
#include <algorithm>
#include <utility>

#include "collector/cupti/remedies.h"
#include "collector/runtime/range_calls.h"
#include "collector/windows/window_change.h"

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
  if (!end.keep) {
    outcome.keep = false;
  } else if (!outcome.keep) {
    end.keep = false;
    end.reason = outcome.reason;
    closing.retract = true;
  }
  if (outcome.keep && counters_.mode() == RangeMode::replay) forget_unpatched(closing, outcome);
  const auto believed = [&closing](FunctionId newest) {
    return closing.new_functions == 0 || newest < closing.new_functions;
  };
  ProgressQuery query;
  {
    const MutexLock hold(control_mutex_);
    query = planner_.query(closing.facts);
    if (outcome.keep && ladder_.on_trial(end.phase.kind)) {
      end.keep = false;
      end.reason = "It only showed whether counters of layers can be had.";
      closing.retract = true;
    }
  }
  query.counted = hooks_.counted;
  const auto needs = sink_.with_profile([&](Profile& profile) {
    if (end.keep) {
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
    return end.keep ? key_needs(profile, query) : KeyNeeds{};
  });
  if (!end.keep && !end.reason.empty()) {
    rt_.notes.record("A window of phase " + to_string(end.phase) +
                     " was thrown away: " + end.reason);
  }
  // What state CUPTI is in after that, nobody knows: the next window begins from nothing.
  if (!outcome.failed.empty() && !counters_.hangs()) (void)counters_.close();
  counters_were_read(closing, outcome, needs);
  say_owed(outcome.keep ? end.phase.kind : PhaseKind::off);
}

// Borders went on meanwhile: what is told to the queue is told to the one that the window was of.
void Windows::counters_were_read(const Closing& closing, const CountersOutcome& outcome,
                                 const KeyNeeds& needs) {
  const auto most = counters_.most_ranges();
  const auto now = outcome.too_small ? timestamp() : 0;
  const MutexLock hold(control_mutex_);
  if (outcome.too_small) range_factor_ *= 2;
  const bool open = state_.read_one();
  const auto trouble = trouble_of(closing, outcome);
  if (!open || closing.queue != queue_) {
    if (trouble && !outcome.failed.empty()) fall_back(closing.end.phase.kind, *trouble);
    return;
  }
  if (outcome.too_small && closing.facts.steps && closing.facts.launches > most)
    leave_long_steps(closing.facts.launches, most, now);
  if (closing.queue != queue_) return;
  if (closing.end.keep || closing.retract) planner_.counters_read(closing.facts, outcome);
  const auto kind = closing.end.phase.kind;
  if (trouble)
    fall_back(kind, *trouble);
  else if (outcome.keep)
    follow_ladder(kind, ladder_.worked(kind), {});
  // Where CUPTI does not return nothing was there to fit.
  if (planner_.take_distrust() && !counters_.hangs()) {
    follow_ladder(
        PhaseKind::hw, ladder_.give_up_all(),
        "The counters of a launch are not its own here (no window's counts of thread blocks "
        "fitted).");
  }
  if (closing.end.keep) {
    ++(closing.end.phase.kind == PhaseKind::hw ? counts_.hw : counts_.flops);
    planner_.progress(closing.facts, needs);
  }
  const auto due = planner_.next();
  if (due.kind != PhaseKind::off && state_.revive()) return;  // the next border goes on
  // To the window that began meanwhile no launch belongs yet.
  if (state_.state() == WindowState::State::announced && due != state_.phase() &&
      (!limited_ || state_.counts()))
    choose_again({});
}

void Windows::start_activity() {
  auto failed = counters_.close().sentence;
  const bool hangs = counters_.hangs();
  if (hangs) flaw(kStuck);
  if (failed.empty() && hangs) return;  // said already
  // Where the profiler may still be enabled, neither records nor counters can be begun safely.
  if (failed.empty()) failed = counters_.not_closed().sentence;
  const bool lost = !failed.empty() && !hangs;
  std::string partly;
  if (lost)
    failed += " Nothing more is collected.";
  else if (!hangs)
    failed = activity_.enable(partly);
  if (!partly.empty()) rt_.notes.say(partly);
  if (failed.empty()) return;
  if (!counters_.hangs()) rt_.notes.say(failed);
  const MutexLock hold(control_mutex_);
  if (lost) {
    planner_.give_up(PhaseKind::hw);
    planner_.give_up(PhaseKind::flops);
  }
  planner_.give_up(PhaseKind::time);
  if (state_.times()) choose_again({});
}

// Records end before launches are followed no longer: a record whose launch nobody saw would pass
// for a lost one.
void Windows::let_go() {
  if (const auto failure = counters_.close(); failure.failed() && !counters_.hangs())
    rt_.notes.say(failure.sentence + " Your program may run slower than without Gable.");
  say_owed();
  activity_.disable();
  rt_.hot.watching.store(false, std::memory_order_release);
  set_ranges_active(false);
  hooks_.over();
}

// Launches that are on their way belong to what was open before, and CUPTI must go on with it until
// they are through. One that is blocked for long is not waited for; its record may never come.
void Windows::wait_for_launches() {
  const auto left = gate_.wait_for_others(kLaunchPatience);
  if (left.empty()) return;
  flaw(kStuck);
  count_timeout(static_cast<std::uint32_t>(left.size()));
  sink_.with_profile([&](Profile& profile) {
    for (const auto correlation : left) profile.expect_no_record(correlation);
  });
}

void Windows::settle() {
  std::vector<Closing> closings;
  std::uint64_t asked = 0;
  const auto began = timestamp();
  const bool activity = activity_.enabled();
  {
    const MutexLock hold(control_mutex_);
    asked = asked_;
    closings.swap(closings_);
  }
  wait_for_launches();
  const bool read = !closings.empty();
  for (auto& closing : closings) read_counters(std::move(closing));
  follow_phase();
  const auto ended = timestamp();
  // Only now may other launches pass; a border that came meanwhile asks for another turn.
  const MutexLock hold(control_mutex_);
  if (limited_) planner_.budget().settled(ended - began);
  if (read || activity != activity_.enabled()) {
    changed_ = true;
    const auto within = std::max(began, start_ns_);  // the window may have begun meanwhile
    change_ns_ += ended > within ? ended - within : 0;
  }
  if (asked != asked_) return;
  if (state_.state() == WindowState::State::announced && !state_.follow()) return;
  tell_launches();
  rt_.hot.pending.store(false, std::memory_order_release);
}

// Whatever came before: what is decided here is read here. What a border decides meanwhile has
// another turn.
void Windows::follow_phase() {
  bool let_go = false, time = false, counter = false, idle = false;
  {
    const MutexLock hold(control_mutex_);
    let_go = state_.to_let_go() && state_.let_go();
    time = state_.times();
    counter = state_.counts();
    idle = state_.state() == WindowState::State::idle;
  }
  if (!counters_.hangs() && !counters_.active()) {
    // Whether code that was loaded since the profiler was enabled gets instrumented is not
    // documented.
    if (modules_loaded_.exchange(false, std::memory_order_relaxed)) (void)counters_.close();
  }
  if (time && !activity_.enabled()) {
    start_activity();
  } else if (counter) {
    // Both instrument code, and together they are a reported hang.
    if (!activity_.pause()) count_timeout();
  } else if (idle) {
    activity_.disable();
  }
  if (let_go) this->let_go();
}

// Begins the window that is open on the context of a launch, unless that is done. Which window it
// is that the launch can be ranged in; none: no counters are taken. Nothing: another thread hangs
// in CUPTI.
std::optional<WindowId> Windows::join_window(const Counters::Place& place) {
  {
    const MutexLock hold(control_mutex_);
    if (!state_.counts()) return kNoWindow;
    if (counters_.begun(place, state_.window())) return state_.window();
  }
  const Change change(*this);
  if (!change.held()) return std::nullopt;
  // Others had their turns meanwhile: nothing that was read before counts.
  while (rt_.hot.pending.load(std::memory_order_acquire)) settle();
  Phase phase;
  WindowId window = kNoWindow;
  RangeMode mode = counters_.mode();
  {
    const MutexLock hold(control_mutex_);
    if (!state_.counts()) return kNoWindow;
    window = state_.window();
    if (counters_.begun(place, window)) return window;
    if (!counters_.active()) mode = choose_mode(state_.phase().kind);
    // A border came since, or the ladder changed what is due: another turn.
    if (!state_.counts() || state_.window() != window || !state_.begin_counting()) return kNoWindow;
    phase = state_.phase();
  }
  counters_.set_mode(mode);
  const auto refused =
      counters_.begin(place, window, phase, max_ranges_.load(std::memory_order_relaxed));
  if (refused.failed())
    refuse(phase, refused);
  else
    cut_windows();
  say_owed();
  return window;
}

// A window could not begin. The queue goes on with this very window, counted in another way or not
// at all.
void Windows::refuse(Phase phase, const CuptiFailure& failure) {
  if (counters_.hangs()) {
    flaw(kStuck);
    return;
  }
  const bool counted = counters_.active();  // on another context, or a launch is in it
  (void)counters_.close();
  const auto trouble = trouble_of(failure);
  const MutexLock hold(control_mutex_);
  fall_back(phase.kind, trouble);
  if (!state_.counts()) return;
  // Not from its middle on.
  if (counted || ordinal_.load(std::memory_order_relaxed) > 0) {
    flaw(kRefused);
    return;
  }
  choose_again("Counters were refused.");
  ask_for_change();
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
  const Change change(*this, std::chrono::seconds(0));
  if (!change.held()) return;  // that thread is in CUPTI, which is not to be disturbed
  (void)counters_.drop();
  if (!counters_.hangs()) (void)counters_.close();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience).count();
  const auto sentence = "No kernel was launched for " + std::to_string(seconds) +
                        " s while counters were taken; that window was ended.";
  if (!counters_.hangs()) rt_.notes.say(sentence);
  end_stalled(sentence);
  say_owed();
}

void Windows::end_stalled(const std::string& sentence) {
  const MutexLock hold(control_mutex_);
  auto phase = state_.phase();
  bool ended = false;
  for (auto& closing : closings_) {
    ended = true;
    if (!closing.end.keep) continue;
    closing.end.keep = false;
    closing.end.reason = sentence;
    closing.retract = true;
    phase = closing.end.phase;
  }
  fall_back(phase.kind, {CountingLadder::Cause::stalled, sentence});
  // What is left of the step is in no window; the next one is as if nothing had been.
  if (!ended && state_.counts()) replace_window({PhaseKind::wait, 0}, sentence);
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

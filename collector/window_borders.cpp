// SPDX-License-Identifier: Apache-2.0
// Where windows begin and end: at step borders that the program or its user names, else where the
// period of the launch sequence begins, else after so many launches.
#include <algorithm>
#include <string>

#include "collector/launch_hash.h"
#include "collector/windows.h"

namespace gable {

QueueOptions Windows::queue_options(Border border) const {
  const auto& s = rt_.settings;
  QueueOptions o;
  o.hw = s.phase_hw;
  o.flops = s.phase_flops;
  o.time = s.phase_time;
  // What measuring adds is told from windows without it.
  const std::uint32_t budget = s.budget && !rt_.ranks ? 1 : 0;
  const std::uint32_t plain = border != Border::launches ? 1 : budget;
  // That its launches come again is known of a period.
  o.wait = s.wait.value_or(border == Border::period ? budget : plain);
  if (border == Border::recurring) {  // whose first instance has passed
    o.wait = std::max(budget, s.wait.value_or(1) - std::min(s.wait.value_or(1), 1u));
  }
  o.warmup = s.warmup.value_or(plain);
  if (!rt_.ranks) o.budget = s.budget;
  o.by_number = rt_.ranks;
  o.active = s.active;
  o.repeat = s.repeat;
  o.wait = schedule_.wait.value_or(o.wait);
  o.warmup = schedule_.warmup.value_or(o.warmup);
  if (schedule_.active) o.active = schedule_.active;
  o.repeat = std::clamp(schedule_.repeat.value_or(o.repeat), 1u, kMostRepeats);
  o.until_repeat =
      border > Border::period && !(border == Border::recurring && recurring_.repeated());
  o.steps = border != Border::launches;
  return o;
}

void Windows::step_range_begin() {
  if (border_.load(std::memory_order_relaxed) != Border::range) return;
  const auto now = timestamp();
  auto& own = this_thread().steps;
  const MutexLock hold(control_mutex_);
  if (own.epoch != range_epoch_) own = {range_epoch_, 0, 0};
  // Where the ranges of several threads overlap, one step goes on until all of them have ended, or
  // until a thread that began its own in it begins its next: free threads always overlap.
  const bool first = range_depth_++ == 0;
  const bool outermost = own.open++ == 0;
  const bool next = !first && outermost && own.began_in == step_;
  if (next) end_window(now, {});
  if (first || next) begin_window(now);
  if (outermost) own.began_in = step_;
}

void Windows::step_range_end() {
  if (border_.load(std::memory_order_relaxed) != Border::range) return;
  const auto now = timestamp();
  auto& own = this_thread().steps;
  const MutexLock hold(control_mutex_);
  if (own.epoch == range_epoch_ && own.open > 0) --own.open;
  if (range_depth_ > 0 && --range_depth_ == 0) end_window(now, {});
}

void Windows::start_over(Border border, std::uint64_t now, const std::string& why) {
  end_window(now, why);
  for (auto& closing : closings_) {
    closing.end.keep = false;
    closing.end.reason.clear();  // nothing of it is missed
  }
  border_.store(border, std::memory_order_relaxed);
  if (!state_.restart()) return;
  const auto spent = planner_.budget();
  start_queue();
  planner_.budget() = spent;
  counts_ = {};
  const bool found = border == Border::period || border == Border::recurring;
  sink_.with_profile([this, found](Profile& profile) {
    profile.restart(found);
    if (auto* recorder = sink_.recorder()) recorder->restart();
  });
}

void Windows::keep_what_was_measured() {
  const MutexLock hold(control_mutex_);
  const auto border = border_.load(std::memory_order_relaxed);
  if (border != Border::period && border != Border::recurring) return;
  if (!sink_.with_profile([](Profile& profile) { return profile.take_back(); })) return;
  border_.store(Border::launches, std::memory_order_relaxed);
  rt_.notes.record((border == Border::recurring
                        ? std::string("The program's steps were found by its ranges")
                        : "The program's launches repeat every " + std::to_string(period_)) +
                   ", but it ended before such steps were measured: numbers are of the run, from "
                   "the windows before.");
}

void Windows::start_queue() {
  planner_ = Planner(queue_options(border_.load(std::memory_order_relaxed)));
  ++queue_;
}

void Windows::switch_to(Border border) {
  if (border_.load(std::memory_order_relaxed) > Border::recurring) return;
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  if (state_.ended() || border_.load(std::memory_order_relaxed) > Border::recurring) return;
  // What came first was no step.
  start_over(border, now, "Step borders began within it.");
}

void Windows::step_point(StepPoint point) {
  switch_to(Border::point);
  if (border_.load(std::memory_order_relaxed) != Border::point) return;
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  // Where the program says its steps, none is found beside them.
  if (point < point_ && point_ == StepPoint::call) return;
  point_ = std::max(point_, point);
  end_window(now, {});
  begin_window(now);
}

void Windows::profiler_start() {
  switch_to(Border::profiler);
  if (border_.load(std::memory_order_relaxed) != Border::profiler) return;
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  if (!state_.in_window()) begin_window(now);
}

void Windows::profiler_stop() {
  if (border_.load(std::memory_order_relaxed) != Border::profiler) return;
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  end_window(now, {});
}

// Ranks would find their periods at different launches, but must be in the same window. A period
// that was measured before there were ranks is followed on.
void Windows::follow(ThreadState& thread, const LaunchKey& key, std::uint32_t kernels) {
  thread.followed += kernels;
  if (last_launcher_.load(std::memory_order_relaxed) != &thread) {
    last_launcher_.store(&thread, std::memory_order_relaxed);
    thread_switches_.fetch_add(1, std::memory_order_relaxed);
  }
  const auto seen = launches_seen_.fetch_add(kernels, std::memory_order_relaxed) + kernels;
  const auto border = border_.load(std::memory_order_relaxed);
  if (border == Border::recurring) {
    if (seen > range_patience_.load(std::memory_order_relaxed)) lose_range();
    return;
  }
  if (!rt_.ranks || border == Border::period) {
    const auto hash = hash_key(key);
    hashes_seen_.fetch_add(hash, std::memory_order_relaxed);
    const auto mark = sequence_.add(&thread, hash, kernels);
    if (mark != PeriodMark::none) obey(mark);
  }
  if (border_.load(std::memory_order_relaxed) == Border::launches) count_launch();
}

void Windows::obey(PeriodMark mark) {
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  const auto border = border_.load(std::memory_order_relaxed);
  if (state_.ended() || border > Border::period || steps_too_long_.load(std::memory_order_relaxed))
    return;
  if (const auto length = sequence_.length(); length != 0) period_ = length;
  switch (mark) {
    case PeriodMark::found:
    case PeriodMark::changed:
      if (mark == PeriodMark::found || border == Border::launches) {
        start_over(Border::period, now, "The program's steps were found within it.");
      } else {
        cut_window(now, "The program went on with other launches within it.");
      }
      usual_launches_ = period_;
      begin_window(now);
      break;
    case PeriodMark::begins:
      if (border != Border::period) break;
      end_window(now, {});
      begin_window(now);
      break;
    case PeriodMark::lost:
      if (border != Border::period) break;
      cut_window(now, "The program's launches repeated no longer within it.");
      if (planner_.next().kind == PhaseKind::off && !looks_on()) no_window_left();
      break;
    case PeriodMark::gone:
      if (border != Border::period) break;
      if (planner_.next().kind == PhaseKind::off) {
        cut_window(now, "The program's launches repeated no longer within it.");
        if (state_.finish()) ask_for_change();
        break;
      }
      rt_.notes.record("The program's launches repeated for " + std::to_string(counts_.seen) +
                       " steps of " + std::to_string(period_) +
                       " launches and then no longer: this report is about what came later.");
      start_over(Border::launches, now, {});
      launches_.store(0, std::memory_order_relaxed);
      break;
    case PeriodMark::none:
      break;
  }
}

void Windows::count_launch() {
  const auto n = launches_.fetch_add(1, std::memory_order_relaxed);
  if (n % window_launches_.load(std::memory_order_relaxed) != 0) return;
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  if (border_.load(std::memory_order_relaxed) != Border::launches) return;
  end_window(now, {});
  begin_window(now);
}

void Windows::leave_long_steps(std::uint64_t launches, std::size_t most, std::uint64_t now) {
  const auto border = border_.load(std::memory_order_relaxed);
  if (state_.ended() || (border != Border::period && border != Border::recurring)) return;
  steps_too_long_.store(true, std::memory_order_relaxed);
  range_patience_.store(~0ull, std::memory_order_relaxed);
  rt_.notes.record("The program's steps have " + std::to_string(launches) +
                   " launches, but CUPTI takes no more than " + std::to_string(most) +
                   " ranges here: windows of " + std::to_string(window_launches_.load()) +
                   " launches were measured instead, and numbers are of the run.");
  start_over(Border::launches, now, "Its step has more launches than CUPTI takes ranges.");
  launches_.store(0, std::memory_order_relaxed);
}

bool Windows::looks_on() const {
  return !steps_too_long_.load(std::memory_order_relaxed) &&
         border_.load(std::memory_order_relaxed) <= Border::period && !rt_.ranks &&
         sequence_.hopeful();
}

const char* Windows::border_name() const {
  switch (border_.load(std::memory_order_relaxed)) {
    case Border::launches:
      return "launches";
    case Border::period:
      return "period";
    case Border::profiler:
      return "profiler";
    case Border::recurring:
    case Border::range:
      return "range";
    case Border::point:
      break;
  }
  return point_ == StepPoint::optimizer ? "optimizer"
         : point_ == StepPoint::forward ? "forward"
                                        : "call";
}

// The steps in which the Python side describes the model: those that are waited for, or counted,
// which takes no time into account, so that no time is longer for it.
std::optional<std::uint32_t> Windows::step_to_describe(bool forward) {
  const MutexLock hold(control_mutex_);
  if (!state_.in_window() || border_.load(std::memory_order_relaxed) != Border::point)
    return std::nullopt;
  if (state_.phase().kind == PhaseKind::wait) return step_;
  if (!forward || limited_) return std::nullopt;  // a budget is for measuring
  if (state_.counts()) {
    slowed_step_ = step_;
    return step_;
  }
  if (planner_.queue().by_number()) return std::nullopt;  // ranks stay in step
  replace_window({PhaseKind::wait, 0}, {});
  return step_;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/step_borders.h"

#include <algorithm>
#include <utility>

#include "collector/layers/launch_hash.h"

namespace gable {

StepBorders::StepBorders(Runtime& rt, EventSink& sink, WindowQueue& queue, RecordClock& clock)
    : rt_(rt), sink_(sink), queue_(queue), clock_(clock) {
  if (queue_.border() == Border::launches) rt_.ranges.look_at(RecurringRange::kLevels);
}

// --- named by the program or its user

void StepBorders::step_range_begin() {
  if (queue_.border() != Border::range) return;
  const auto now = clock_.now();
  auto& own = this_thread().steps;
  const MutexLock hold(queue_.mutex());
  if (own.epoch != range_epoch_) own = {range_epoch_, 0, 0};
  // Where the ranges of several threads overlap, one step goes on until all of them have ended, or
  // until a thread that began its own in it begins its next: free threads always overlap.
  const bool first = range_depth_++ == 0;
  const bool outermost = own.open++ == 0;
  const bool next = !first && outermost && own.began_in == queue_.step();
  if (next) queue_.end_window(now, {});
  if (first || next) queue_.begin_window(now);
  if (outermost) own.began_in = queue_.step();
}

void StepBorders::step_range_end() {
  if (queue_.border() != Border::range) return;
  const auto now = clock_.now();
  auto& own = this_thread().steps;
  const MutexLock hold(queue_.mutex());
  if (own.epoch == range_epoch_ && own.open > 0) --own.open;
  if (range_depth_ > 0 && --range_depth_ == 0) queue_.end_window(now, {});
}

void StepBorders::switch_to(Border border) {
  if (queue_.border() > Border::recurring) return;
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  if (queue_.state().ended() || queue_.border() > Border::recurring) return;
  // What came first was no step.
  start_over(border, now, "Step borders began within it.");
}

void StepBorders::step_point(StepPoint point, bool anew) {
  switch_to(Border::point);
  if (queue_.border() != Border::point) return;
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  // Where the program says its steps, none is found beside them.
  if (point < point_ && point_ == StepPoint::call) return;
  // The first forwards of a program that trains are no steps.
  const bool trains = point == StepPoint::optimizer && point_ == StepPoint::forward && by_forward_;
  point_ = std::max(point_, point);
  by_forward_ = point == StepPoint::forward;
  if (trains && queue_.state().ended())
    rt_.notes.say(
        "The program began to train after everything was measured: the report is of the forwards "
        "before. --wait N passes over N of them, and gable.profile() says what to measure.");
  if (trains || anew)
    start_over(Border::point, now, "What the program's steps are was found within it.");
  else
    queue_.end_window(now, {});
  queue_.begin_window(now);
}

void StepBorders::profiler_start() {
  switch_to(Border::profiler);
  if (queue_.border() != Border::profiler) return;
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  if (!queue_.state().in_window()) queue_.begin_window(now);
}

void StepBorders::profiler_stop() {
  if (queue_.border() != Border::profiler) return;
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  queue_.end_window(now, {});
}

// --- in launches

// Ranks would find their periods at different launches, but must be in the same window. A period
// that was measured before there were ranks is followed on.
void StepBorders::follow(ThreadState& thread, const LaunchKey& key, std::uint32_t kernels) {
  thread.followed += kernels;
  if (last_launcher_.load(std::memory_order_relaxed) != &thread) {
    last_launcher_.store(&thread, std::memory_order_relaxed);
    switches_.fetch_add(1, std::memory_order_relaxed);
  }
  const auto seen = seen_.fetch_add(kernels, std::memory_order_relaxed) + kernels;
  const auto border = queue_.border();
  if (border == Border::recurring) {
    if (seen > range_patience_.load(std::memory_order_relaxed)) lose_range();
    return;
  }
  if (!rt_.ranks || border == Border::period) {
    const auto hash = hash_key(key);
    hashes_.fetch_add(hash, std::memory_order_relaxed);
    const auto mark = sequence_.add(&thread, hash, kernels);
    if (mark != PeriodMark::none) obey(mark);
  }
  if (queue_.border() == Border::launches) count_launch();
}

void StepBorders::count_launch() {
  const auto n = launches_.fetch_add(1, std::memory_order_relaxed);
  if (n % queue_.window_launches() != 0) return;
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  if (queue_.border() != Border::launches) return;
  queue_.end_window(now, {});
  queue_.begin_window(now);
}

void StepBorders::obey(PeriodMark mark) {
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  const auto border = queue_.border();
  if (queue_.state().ended() || border > Border::period ||
      too_long_.load(std::memory_order_relaxed))
    return;
  if (const auto length = sequence_.length(); length != 0) period_ = length;
  if (mark == PeriodMark::found || mark == PeriodMark::changed) return period_found(mark, now);
  if (border != Border::period) return;
  switch (mark) {
    case PeriodMark::begins:
      queue_.end_window(now, {});
      queue_.begin_window(now);
      break;
    case PeriodMark::lost:
      queue_.cut_window(now, "The program's launches stopped repeating within it.");
      if (queue_.planner().next().kind == PhaseKind::off && !looks_on()) queue_.no_window_left();
      break;
    case PeriodMark::gone:
      period_gone(now);
      break;
    case PeriodMark::found:
    case PeriodMark::changed:
    case PeriodMark::none:
      break;
  }
}

void StepBorders::period_found(PeriodMark mark, std::uint64_t now) {
  if (mark == PeriodMark::found || queue_.border() == Border::launches) {
    start_over(Border::period, now, "The program's steps were found within it.");
  } else {
    queue_.cut_window(now, "The program went on with other launches within it.");
  }
  queue_.expect_launches(period_);
  queue_.begin_window(now);
}

void StepBorders::period_gone(std::uint64_t now) {
  if (queue_.planner().next().kind == PhaseKind::off) {
    queue_.cut_window(now, "The program's launches stopped repeating within it.");
    queue_.finish();
    return;
  }
  rt_.notes.record("The program's launches repeated for " + std::to_string(queue_.steps_seen()) +
                   " steps of " + std::to_string(period_) +
                   " launches and then stopped repeating: this report covers what came later.");
  start_over(Border::launches, now, {});
  launches_.store(0, std::memory_order_relaxed);
}

// --- in ranges

// Ranks need not see the same ranges at the same step.
bool StepBorders::looks_at_ranges() const {
  const auto border = queue_.border();
  return (border == Border::launches || border == Border::recurring) && !rt_.ranks &&
         !too_long_.load(std::memory_order_relaxed);
}

LaunchesSeen StepBorders::launches_seen() const {
  const auto& own = this_thread();
  return {seen_.load(std::memory_order_relaxed), hashes_.load(std::memory_order_relaxed),
          own.followed, switches_.load(std::memory_order_relaxed), &own};
}

void StepBorders::range_begins(std::uint32_t level, LayerId layer, const void* thread) {
  if (!looks_at_ranges()) return;
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  if (looks_at_ranges() && !queue_.state().ended())
    obey(recurring_.begin(level, layer, thread, launches_seen()), now);
}

void StepBorders::range_ends(std::uint32_t level, const void* thread) {
  if (!looks_at_ranges()) return;
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  if (looks_at_ranges() && !queue_.state().ended())
    obey(recurring_.end(level, thread, launches_seen()), now);
}

void StepBorders::obey(RangeMark mark, std::uint64_t now) {
  switch (mark) {
    case RangeMark::found:
      range_found(now);
      break;
    case RangeMark::begins:
      queue_.end_window(now, {});
      tell_found();
      queue_.begin_window(now);
      break;
    case RangeMark::ends:
      queue_.end_window(now, {});
      tell_found();
      break;
    case RangeMark::gone:
      range_gone(now);
      return;
    case RangeMark::none:
      return;
  }
  range_patience_.store(recurring_.patience_ends(), std::memory_order_relaxed);
}

void StepBorders::range_found(std::uint64_t now) {
  start_over(Border::recurring, now, "The program's steps were found within it.");
  queue_.planner().saw_step(recurring_.first().hash);
  queue_.expect_launches(recurring_.first().launches);
  std::string names;
  for (const auto range : recurring_.ranges())
    names += (names.empty() ? "'" : ", '") + rt_.layers.node(range).name + "'";
  const bool one = recurring_.ranges().size() == 1;
  found_note_ = (one ? "The range " : "The ranges ") + names +
                (one ? ", which recurs around the program's launches, was"
                     : ", which recur in turn around the program's launches, were") +
                " taken for the step; --step-range chooses another.";
  queue_.begin_window(now);
}

void StepBorders::range_gone(std::uint64_t now) {
  range_patience_.store(~0ull, std::memory_order_relaxed);
  if (queue_.planner().next().kind == PhaseKind::off) {
    queue_.cut_window(now, "The range that was taken for the step stopped coming within it.");
    queue_.finish();
    return;
  }
  if (found_note_.empty()) {
    const auto seen = queue_.steps_seen();
    rt_.notes.record("The range that was taken for the step came " +
                     (seen == 1 ? "once" : std::to_string(seen) + " times") +
                     " and then no longer came around the program's launches: this report covers "
                     "what came later.");
  }
  found_note_.clear();
  start_over(Border::launches, now, {});
  sequence_.skip();
  launches_.store(0);
}

// A range that turned out to be no step within its first instance was never one to anybody.
void StepBorders::tell_found() {
  if (!found_note_.empty()) rt_.notes.record(std::exchange(found_note_, {}));
}

// The launches go on, but the range that was the step does not come any more.
void StepBorders::lose_range() {
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  if (queue_.state().ended() || queue_.border() != Border::recurring) return;
  if (launches_seen().launches <= recurring_.patience_ends()) return;
  recurring_.forget();
  obey(RangeMark::gone, now);
}

// --- when nothing is found any more

bool StepBorders::looks_on() const {
  return !too_long_.load(std::memory_order_relaxed) && queue_.border() <= Border::period &&
         !rt_.ranks && sequence_.hopeful();
}

// All ranks make their communicator in the same step: the queue that begins with it is the same for
// all of them. They need not find the same period, nor the same range at the same step.
void StepBorders::ranks_came() {
  const MutexLock hold(queue_.mutex());
  if (queue_.state().ended()) return;
  const auto due = queue_.planner().queue().next().kind;
  if (measures(due) || queue_.state().collects()) {
    rt_.notes.record(
        "NCCL made a communicator after measuring had begun: other ranks may have been in other "
        "windows, so collectives may have waited for them.");
    return;
  }
  if (const auto border = queue_.border();
      border == Border::period || border == Border::recurring) {
    queue_.set_border(Border::launches);
    launches_.store(0);
  }
  queue_.start_with_ranks();
  if (rt_.settings.budget) rt_.notes.say(std::string(kNoBudgetWithRanks));
}

void StepBorders::leave_long_steps(std::uint64_t launches, std::size_t most, std::uint64_t now) {
  queue_.mutex().assert_held();
  const auto border = queue_.border();
  if (queue_.state().ended() || (border != Border::period && border != Border::recurring)) return;
  too_long_.store(true, std::memory_order_relaxed);
  range_patience_.store(~0ull, std::memory_order_relaxed);
  rt_.notes.record("The program's steps have " + std::to_string(launches) +
                   " launches, but CUPTI takes no more than " + std::to_string(most) +
                   " ranges here: windows of " + std::to_string(queue_.window_launches()) +
                   " launches were measured instead, and numbers are per run, not per step.");
  start_over(Border::launches, now, "Its step has more launches than CUPTI takes ranges.");
  launches_.store(0, std::memory_order_relaxed);
}

// --- queues

void StepBorders::start_over(Border border, std::uint64_t now, const std::string& why) {
  queue_.start_over(border, recurring_.repeated(), now, why);
}

bool StepBorders::reopen(const Schedule& schedule) {
  const MutexLock hold(queue_.mutex());
  if (!queue_.reopen(schedule, recurring_.repeated())) return false;
  point_ = StepPoint::forward;
  by_forward_ = false;
  range_depth_ = 0;
  ++range_epoch_;
  launches_.store(0, std::memory_order_relaxed);
  sequence_.skip();
  recurring_.skip();
  range_patience_.store(~0ull, std::memory_order_relaxed);
  return true;
}

bool StepBorders::begin_block(const Schedule& schedule) {
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  if (queue_.state().ended()) return false;
  queue_.follow_schedule(schedule);
  point_ = StepPoint::forward;
  by_forward_ = false;
  start_over(queue_.border(), now, "A block that the program asked to profile began within it.");
  launches_.store(0, std::memory_order_relaxed);
  return true;
}

void StepBorders::keep_what_was_measured() {
  const MutexLock hold(queue_.mutex());
  const auto border = queue_.border();
  if (border != Border::period && border != Border::recurring) return;
  if (!sink_.with_profile([](Profile& profile) { return profile.take_back(); })) return;
  queue_.set_border(Border::launches);
  const auto found =
      border == Border::recurring
          ? std::string("The program's steps were found by its ranges")
          : "The program's launches repeat every " + std::to_string(period_) + " launches";
  rt_.notes.record(found +
                   ", but it ended before such steps were measured: numbers are per run, not per "
                   "step, and come from the windows before.");
}

std::string StepBorders::name() {
  const MutexLock hold(queue_.mutex());
  return name_of(queue_.border(), point_);
}

std::uint32_t StepBorders::period() {
  const MutexLock hold(queue_.mutex());
  return queue_.border() == Border::period ? period_ : 0;
}

}  // namespace gable

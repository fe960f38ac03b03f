// SPDX-License-Identifier: Apache-2.0
#include "collector/windows.h"

#include <algorithm>
#include <utility>

namespace gable {
namespace {

constexpr std::size_t kMostRanges = 65536;  // of one counter window: bounds CUPTI's counter image

}  // namespace

Windows::Windows(Runtime& rt, const CuptiApi& api, EventSink& sink, Counters& counters,
                 ActivityStream& activity, Hooks hooks)
    : rt_(rt),
      api_(api),
      sink_(sink),
      counters_(counters),
      activity_(activity),
      hooks_(std::move(hooks)),
      limited_(rt.settings.budget.has_value() && !rt.ranks),
      border_(rt.settings.step_range.empty() ? Border::launches : Border::range),
      planner_(queue_options(border_.load())) {
  if (border_.load() == Border::launches) rt_.ranges.look_at(RecurringRange::kLevels);
}

std::uint64_t Windows::timestamp() const {
  std::uint64_t now = 0;
  return api_.cuptiGetTimestamp(&now) == CUPTI_SUCCESS ? now : 0;
}

// --- windows
// ------------------------------------------------------------------------------------------------------------

void Windows::choose_phase() {
  phase_ = planner_.next();
  const bool counters_next = phase_.kind != PhaseKind::wait && phase_.kind != PhaseKind::warmup;
  if (counters_next && !planned_) {
    planned_ = true;
    const bool wanted = rt_.settings.phase_hw || rt_.settings.phase_flops;
    const MetricPlan* plan = wanted ? hooks_.wait_for_plan() : nullptr;
    std::uint32_t groups = 0;
    bool flops = false;
    if (plan != nullptr) {
      for (const auto& pass : plan->passes) {
        if (pass.phase.kind == PhaseKind::hw)
          groups = std::max<std::uint32_t>(groups, pass.phase.group + 1u);
        if (pass.phase.kind == PhaseKind::flops) flops = true;
      }
      counters_.set_plan(plan);
    }
    planner_.set_passes(groups, flops);
    phase_ = planner_.next();
  }
}

// The open window, in which nothing was collected yet, becomes one of the phase that is due now. A
// step that has begun is none for times, whose copies ran unseen; it only counts.
void Windows::choose_again(const std::string& reason) {
  auto phase = planner_.next();
  if ((by_steps() && !is_counter(phase)) || limited_) phase = {PhaseKind::wait, 0};
  replace_window(phase, reason);
}

void Windows::replace_window(Phase phase, const std::string& reason) {
  WindowEnd unused;
  unused.window = window_;
  unused.phase = phase_;
  unused.keep = false;
  unused.reason = reason;
  sink_.end_window(unused);
  phase_ = phase;
  in_window_ = phase_.kind != PhaseKind::off;
  over_ = !in_window_ && !looks_on();
  window_ = ++last_window_;
  if (in_window_)
    sink_.with_profile([this](Profile& profile) { profile.begin_window(window_, phase_); });
  publish();
}

void Windows::begin_window(std::uint64_t now) {
  if (over_) return;
  rt_.hot.step.store(++step_, std::memory_order_relaxed);
  flaws_.store(0, std::memory_order_relaxed);
  ordinal_.store(0, std::memory_order_relaxed);
  functions_before_ = static_cast<FunctionId>(rt_.functions.size());
  planner_.budget().begin(now);
  choose_phase();
  choose_keys();
  start_ns_ = now;
  slowed_ = false;
  if (phase_.kind == PhaseKind::off) {
    over_ = !looks_on();
    window_ = kNoWindow;
    publish();
    if (over_ || !std::exchange(idle_, true)) ask_for_change();
    return;
  }
  in_window_ = true;
  idle_ = false;
  window_ = ++last_window_;
  const bool steps = by_steps();
  const std::size_t expected =
      steps ? last_launches_ + last_launches_ / 4 + 64 : rt_.settings.window;
  max_ranges_.store(std::min(expected * range_factor_, kMostRanges), std::memory_order_relaxed);
  sink_.take_spans(kNoWindow);
  sink_.with_profile([this](Profile& profile) { profile.begin_window(window_, phase_); });
  publish();
}

// What launches and ranges of the window that is open (or none) are told.
void Windows::publish() {
  const bool collects = in_window_ && (is_counter(phase_) || phase_.kind == PhaseKind::time);
  rt_.hot.window.store(collects ? window_ : kNoWindow, std::memory_order_relaxed);
  rt_.hot.span_window.store(collects && phase_.kind == PhaseKind::time ? window_ : kNoWindow,
                            std::memory_order_relaxed);
  rt_.hot.counters.store(collects && is_counter(phase_), std::memory_order_relaxed);
  if (collects || closing_) ask_for_change();
}

void Windows::ask_for_change() {
  ++asked_;
  rt_.hot.pending.store(true, std::memory_order_release);
}

void Windows::end_window(std::uint64_t now, const std::string& spoilt) {
  close_window(now, spoilt, false);
}

void Windows::cut_window(std::uint64_t now, const std::string& why) {
  close_window(now, why, true);
}

void Windows::close_window(std::uint64_t now, const std::string& spoilt, bool cut) {
  if (!in_window_) return;
  in_window_ = false;
  const auto summary = sink_.summary(step_);
  const bool steps = by_steps();
  sink_.take_spans(window_);
  WindowEnd end;
  end.window = window_;
  end.phase = phase_;
  end.start_ns = slowed_ ? 0 : start_ns_;
  end.end_ns = now;
  end.overhead_ns = sink_.take_overhead_ns();
  end.launches = summary.launches;
  end.sequence_hash = steps ? summary.hash : 0;
  planner_.budget().ended({phase_, end.sequence_hash, summary.launches,
                           chosen_ ? chosen_->launches : summary.launches, now - start_ns_,
                           end.overhead_ns});
  const WindowFacts facts{
      window_, phase_, end.sequence_hash, summary.launches, flaws_.load(std::memory_order_relaxed),
      steps};
  const auto verdict = cut ? Verdict{spoilt, false} : planner_.ended(facts, spoilt);
  end.reason = verdict.reason;
  end.keep = end.reason.empty() && summary.launches > 0;
  publish();
  if (summary.launches == 0) {
    sink_.end_window(end);
    return;
  }
  if (!cut) {
    last_launches_ = summary.launches;
    ++counts_.seen;
  }
  if (steps && !cut) {
    sink_.with_profile([&end](Profile& profile) { profile.count_step(end.sequence_hash); });
  }
  if (is_counter(phase_)) {
    closing_ = Closing{end, facts, verdict.without_new_functions ? functions_before_ : 0,
                       functions_before_};
    ask_for_change();
    return;
  }
  if (phase_.kind != PhaseKind::time || !end.keep) {
    sink_.end_window(end);
    return;
  }
  ++counts_.time;
  if (activity_.enabled()) hooks_.records_wanted();
  planner_.progress(facts, sink_.with_profile([&](Profile& profile) {
    sink_.end_window_locked(end);
    return key_needs(profile, planner_.query(facts));
  }));
}

void Windows::shut_down(const std::string& why) {
  const auto now = timestamp();
  {
    const std::lock_guard hold(control_mutex_);
    const bool steps = by_steps();
    if (in_window_) end_window(now, steps ? why : "");
    over_ = true;
    told_over_ = true;
  }
  rt_.hot.watching.store(false, std::memory_order_release);
  if (rt_.hot.pending.load(std::memory_order_acquire)) (void)apply_pending();
}

// Whoever asks does so at any moment: the step that is open, and what is under way in it, is none
// of the queue's.
void Windows::reopen(const Schedule& schedule) {
  const std::lock_guard hold(control_mutex_);
  schedule_ = schedule;
  point_ = StepPoint::forward;
  auto options = queue_options(border_.load());
  if (!schedule.wait) options.wait = std::max(options.wait, 1u);
  planner_ = Planner(options);
  planned_ = in_window_ = over_ = told_over_ = false;
  closing_.reset();
  range_depth_ = 0;
  counts_ = {};
  launches_.store(0, std::memory_order_relaxed);
  sequence_.skip();
  recurring_.skip();
  range_patience_.store(~0ull, std::memory_order_relaxed);
  changes_ns_.store(0, std::memory_order_relaxed);
}

bool Windows::begin_block(const Schedule& schedule) {
  const auto now = timestamp();
  const std::lock_guard hold(control_mutex_);
  if (over_) return false;
  schedule_ = schedule;
  point_ = StepPoint::forward;
  start_over(border_.load(std::memory_order_relaxed), now,
             "The program began what is to be profiled within it.");
  launches_.store(0, std::memory_order_relaxed);
  idle_ = false;
  return true;
}

// CUPTI follows at the next launch, or when the program ends.
void Windows::end_block() {
  const auto now = timestamp();
  const std::lock_guard hold(control_mutex_);
  if (over_) return;
  end_window(now, by_steps() ? "What the program had profiled ended within it." : "");
  over_ = true;
  window_ = kNoWindow;
  publish();
  ask_for_change();
}

Windows::Counts Windows::counts() {
  const std::lock_guard hold(control_mutex_);
  auto counts = counts_;
  counts.classes = planner_.queue().classes();
  counts.budget = planner_.budget().percent();
  if (limited_) counts.added = planner_.budget().added_percent();
  counts.border = border_name();
  counts.period = border_.load() == Border::period ? period_ : 0;
  return counts;
}

}  // namespace gable

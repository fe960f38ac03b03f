// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/windows.h"

#include <algorithm>
#include <utility>

#include "collector/cupti/helpers.h"

namespace gable {
namespace {

constexpr std::size_t kMostRanges = 65536;  // of one counter window: bounds CUPTI's counter image
// More than a window usually has, and more for each further thread.
constexpr std::size_t kRoom = 64, kRoomPerThread = 16;

// Hardware passes, and whether FLOPs can be counted.
std::pair<std::uint32_t, bool> passes_of(const MetricPlan* plan) {
  std::pair<std::uint32_t, bool> passes{0, false};
  if (plan == nullptr) return passes;
  for (const auto& pass : plan->passes) {
    if (pass.phase.kind == PhaseKind::hw)
      passes.first = std::max<std::uint32_t>(passes.first, pass.phase.group + 1u);
    if (pass.phase.kind == PhaseKind::flops) passes.second = true;
  }
  return passes;
}

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
      window_launches_(rt.settings.window),
      planner_(queue_options(border_.load())),
      ladder_(counters.mode(), rt.settings.phase_hw, rt.settings.phase_flops) {
  if (border_.load() == Border::launches) rt_.ranges.look_at(RecurringRange::kLevels);
}

std::uint64_t Windows::timestamp() {
  if (const auto now = clock_.read(); now != 0) return now;
  const auto answer = ask_patiently<HostClock::Answer>(
      api_, &Helpers::calls, [call = api_.cuptiGetTimestamp](HostClock::Answer& asked) {
        asked.before = system_ns();
        const auto code = called("cuptiGetTimestamp", call, &asked.cupti);
        asked.after = system_ns();
        return code;
      });
  if (!answer) return 0;
  clock_.take(*answer);
  return answer->cupti;
}

// --- windows
// ------------------------------------------------------------------------------------------------------------

Phase Windows::choose_phase() {
  auto phase = planner_.next();
  if (phase.kind == PhaseKind::wait || phase.kind == PhaseKind::warmup || planner_.planned())
    return phase;
  const bool wanted = rt_.settings.phase_hw || rt_.settings.phase_flops;
  const MetricPlan* plan = wanted ? hooks_.wait_for_plan() : nullptr;
  const auto [groups, flops] = passes_of(plan);
  if (plan != nullptr) counters_.set_plan(plan);
  planner_.set_passes(groups, flops);
  if (plan != nullptr && !flops) ladder_.leave_out(PhaseKind::flops);
  for (const auto kind : {PhaseKind::hw, PhaseKind::flops})
    if (!ladder_.taken(kind)) planner_.give_up(kind);  // before the queue began anew
  return planner_.next();
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
  unused.window = state_.window();
  unused.phase = state_.phase();
  unused.keep = false;
  unused.reason = reason;
  if (!state_.end(false)) return;
  sink_.end_window(unused);
  if (phase.kind == PhaseKind::off)
    no_window_left();
  else
    open_window(phase);
  publish();
}

void Windows::open_window(Phase phase) {
  if (!state_.begin(phase)) return;
  const auto window = state_.window();
  sink_.with_profile([window, phase](Profile& profile) { profile.begin_window(window, phase); });
}

void Windows::no_window_left() {
  const bool was_idle = state_.state() == WindowState::State::idle;
  if (!(looks_on() ? state_.rest() : state_.finish())) return;
  if (state_.ended() || !was_idle) ask_for_change();
}

void Windows::begin_window(std::uint64_t now) {
  if (state_.ended()) return;
  ++step_;
  flaws_.store(0, std::memory_order_relaxed);
  ordinal_.store(0, std::memory_order_relaxed);
  functions_before_ = static_cast<FunctionId>(rt_.functions.size());
  planner_.budget().begin(now);
  const auto phase = choose_keys(choose_phase());
  start_ns_ = now;
  changed_ = false;
  change_ns_ = 0;
  if (phase.kind == PhaseKind::off) {
    no_window_left();
    publish();
    return;
  }
  // Launches of other threads come in while one makes the border.
  const std::size_t usual = by_steps() ? usual_launches_ : rt_.settings.window;
  const std::size_t threads = ThreadRegistry::instance().size();
  const std::size_t others = threads > 0 ? (threads - 1) * kRoomPerThread : 0;
  max_ranges_.store(std::min((usual + usual / 4 + kRoom + others) * range_factor_, kMostRanges),
                    std::memory_order_relaxed);
  sink_.take_spans(kNoWindow);
  open_window(phase);
  publish();
}

// What launches and ranges of the window that is open (or none) are told. A launch that sees any of
// it sees that CUPTI has to follow, too: that is told first.
void Windows::publish() {
  if (state_.collects() || state_.unread() > 0) ask_for_change();
  tell_launches();
}

void Windows::tell_launches() {
  rt_.hot.step.store(step_, std::memory_order_release);
  rt_.hot.window.store(state_.of_launches(), std::memory_order_release);
  rt_.hot.span_window.store(state_.times() ? state_.window() : kNoWindow,
                            std::memory_order_relaxed);
  rt_.hot.counters.store(state_.counts(), std::memory_order_release);
}

void Windows::ask_for_change() {
  ++asked_;
  rt_.hot.pending.store(true, std::memory_order_seq_cst);
}

void Windows::end_window(std::uint64_t now, const std::string& spoilt) {
  close_window(now, spoilt, false);
}

void Windows::cut_window(std::uint64_t now, const std::string& why) {
  close_window(now, why, true);
}

void Windows::close_window(std::uint64_t now, const std::string& spoilt, bool cut) {
  const auto phase = state_.phase();
  const auto window = state_.window();
  const bool counting = state_.counting();
  const auto summary = state_.in_window() ? sink_.summary(step_) : StepSummary{};
  // Where CUPTI began to take counters it has to be stopped, also when no launch was seen since.
  const bool unread = is_counter(phase) && (counting || summary.launches > 0);
  if (!state_.end(unread)) return;
  // Borders come on several threads, which read the clock before they get here.
  now = std::max(now, start_ns_);
  const bool steps = by_steps();
  sink_.take_spans(window);
  WindowEnd end;
  end.window = window;
  end.phase = phase;
  end.start_ns = slowed_step_ == step_ ? 0 : start_ns_;
  end.end_ns = now;
  end.overhead_ns = sink_.take_overhead_ns();
  end.changed = changed_;
  end.change_ns = change_ns_;
  end.launches = summary.launches;
  end.sequence_hash = steps ? summary.hash : 0;
  planner_.budget().ended({phase, end.sequence_hash, summary.launches,
                           chosen_ ? chosen_->launches : summary.launches, now - start_ns_,
                           end.overhead_ns});
  const WindowFacts facts{
      window, phase, end.sequence_hash, summary.launches, flaws_.load(std::memory_order_relaxed),
      steps};
  const bool empty = summary.launches == 0;
  const auto verdict = cut ? Verdict{spoilt, false} : planner_.ended(facts, spoilt);
  end.reason = verdict.reason;
  end.keep = end.reason.empty() && !empty;
  if (unread)
    closings_.push_back({queue_, end, facts, verdict.without_new_functions ? functions_before_ : 0,
                         functions_before_});
  publish();
  if (!cut && !empty) {
    // Steps of several threads differ; a long one is not forgotten at once.
    usual_launches_ = std::max(summary.launches, usual_launches_ - usual_launches_ / 8);
    ++counts_.seen;
    if (steps)
      sink_.with_profile([&end](Profile& profile) { profile.count_step(end.sequence_hash); });
  }
  if (unread) return;
  if (phase.kind != PhaseKind::time || !end.keep) {
    sink_.end_window(end);
    return;
  }
  ++counts_.time;
  if (activity_.enabled()) hooks_.records_wanted();
  const auto query = planner_.query(facts);
  planner_.progress(facts, sink_.with_profile([&](Profile& profile) {
    if (activity_.lacks_copies()) profile.lose_copies(window);
    sink_.end_window_locked(end);
    return key_needs(profile, query);
  }));
}

void Windows::shut_down(const std::string& why) {
  const auto now = timestamp();
  {
    const MutexLock hold(control_mutex_);
    end_window(now, by_steps() ? why : "");
    if (!state_.quit()) rt_.notes.record("The queue could not be ended where the program ended.");
  }
  rt_.hot.watching.store(false, std::memory_order_release);
  if (rt_.hot.pending.load(std::memory_order_acquire)) (void)apply_pending();
  say_owed();
}

// Whoever asks does so at any moment: the step that is open, and what is under way in it, is none
// of the queue's.
bool Windows::reopen(const Schedule& schedule) {
  const MutexLock hold(control_mutex_);
  if (!state_.reopen()) return false;
  schedule_ = schedule;
  point_ = StepPoint::forward;
  auto options = queue_options(border_.load());
  if (!schedule.wait) options.wait = std::max(options.wait, 1u);
  planner_ = Planner(options);
  ladder_.begin_anew();
  ++queue_;
  closings_.clear();
  range_depth_ = 0;
  ++range_epoch_;
  counts_ = {};
  launches_.store(0, std::memory_order_relaxed);
  sequence_.skip();
  recurring_.skip();
  range_patience_.store(~0ull, std::memory_order_relaxed);
  changes_ns_.store(0, std::memory_order_relaxed);
  return true;
}

bool Windows::begin_block(const Schedule& schedule) {
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  if (state_.ended()) return false;
  schedule_ = schedule;
  point_ = StepPoint::forward;
  start_over(border_.load(std::memory_order_relaxed), now,
             "The program began what is to be profiled within it.");
  launches_.store(0, std::memory_order_relaxed);
  return true;
}

// CUPTI follows at the next launch, or when the program ends.
void Windows::end_block() {
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  end_window(now, by_steps() ? "What the program had profiled ended within it." : "");
  if (!state_.stop()) return;  // it has ended
  publish();
  ask_for_change();
}

// Of steps by a range that is named, whatever this run had for borders.
std::optional<std::uint32_t> Windows::steps_needed() const {
  const bool counters = rt_.settings.phase_hw || rt_.settings.phase_flops;
  const MetricPlan* plan = counters ? hooks_.known_plan() : nullptr;
  if (counters && plan == nullptr) return std::nullopt;
  auto options = queue_options(Border::range);
  const auto [groups, flops] = passes_of(plan);
  options.hw_groups = groups;
  options.flops = options.flops && flops;
  return PhaseQueue(options).least_steps();
}

Windows::Counts Windows::counts() {
  const MutexLock hold(control_mutex_);
  auto counts = counts_;
  counts.classes = planner_.queue().classes();
  counts.budget = planner_.budget().percent();
  if (limited_) counts.added = planner_.budget().added_percent();
  counts.border = border_name();
  // Where everything was given up, no number of steps helps.
  const bool measured = counts.hw + counts.flops + counts.time > 0;
  if (measured || !planner_.queue().complete()) counts.needed = steps_needed();
  counts.period = border_.load() == Border::period ? period_ : 0;
  return counts;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/window_queue.h"

#include <algorithm>
#include <utility>

#include "collector/layers/thread_state.h"

namespace gable {
namespace {

constexpr std::size_t kMostRanges = 65536;  // of one counter window: bounds CUPTI's counter image
constexpr std::size_t kRoom = 64;           // more than a window usually has

struct Passes {
  std::uint32_t groups = 0;  // of hardware counters
  bool flops = false;        // FLOPs can be counted
};

Passes passes_of(const MetricPlan* plan) {
  Passes passes;
  if (plan == nullptr) return passes;
  for (const auto& pass : plan->passes) {
    if (pass.phase.kind == PhaseKind::hw)
      passes.groups = std::max<std::uint32_t>(passes.groups, pass.phase.group + 1u);
    if (pass.phase.kind == PhaseKind::flops) passes.flops = true;
  }
  return passes;
}

}  // namespace

WindowQueue::WindowQueue(Runtime& rt, EventSink& sink, const ActivityStream& activity, Hooks hooks,
                         RangeMode mode)
    : rt_(rt),
      sink_(sink),
      activity_(activity),
      hooks_(std::move(hooks)),
      limited_(rt.settings.budget.has_value() && !rt.ranks),
      border_(rt.settings.step_range.empty() ? Border::launches : Border::range),
      window_launches_(rt.settings.window),
      planner_(options(border())),
      ladder_(mode, rt.settings.phase_hw, rt.settings.phase_flops) {}

// --- queues

QueueOptions WindowQueue::options(Border border) const {
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
  o.until_repeat = border > Border::period && !(border == Border::recurring && repeats_);
  o.steps = border != Border::launches;
  return o;
}

void WindowQueue::start() {
  planner_ = Planner(options(border()));
  ++number_;
}

void WindowQueue::start_over(Border border, bool repeats, std::uint64_t now,
                             const std::string& why) {
  end_window(now, why);
  drop_ended();
  set_border(border);
  repeats_ = repeats;
  if (!state_.restart()) return;
  const auto spent = planner_.budget();
  start();
  planner_.budget() = spent;
  counts_ = {};
  const bool found = border == Border::period || border == Border::recurring;
  sink_.with_profile([this, found](Profile& profile) {
    profile.restart(found);
    if (auto* recorder = sink_.recorder()) recorder->restart();
  });
}

void WindowQueue::start_with_ranks() {
  limited_.store(false);
  start();
}

// A request may come at any moment, so the open step and what is in progress in it do not belong to
// the new queue.
bool WindowQueue::reopen(const Schedule& schedule, bool repeats) {
  if (!state_.reopen()) return false;
  schedule_ = schedule;
  repeats_ = repeats;
  auto wanted = options(border());
  if (!schedule.wait) wanted.wait = std::max(wanted.wait, 1u);
  planner_ = Planner(wanted);
  ladder_.begin_anew();
  ++number_;
  ended_.clear();
  counts_ = {};
  return true;
}

// CUPTI follows at the next launch, or when the program ends.
void WindowQueue::stop() {
  if (!state_.stop()) return;  // it has ended
  publish();
  ask_for_change();
}

void WindowQueue::finish() {
  if (state_.finish()) ask_for_change();
}

void WindowQueue::count_anew() {
  drop_ended();
  planner_.collect_again();
  counts_ = {};
  const bool layers = ladder_.by_layers();
  const auto window = state_.window();
  const auto phase = state_.phase();
  const bool open = state_.in_window();
  sink_.with_profile([&](Profile& profile) {
    profile.count_anew(layers);
    if (open) profile.begin_window(window, phase);
    if (auto* recorder = sink_.recorder()) recorder->restart();
  });
}

// --- which phase

Phase WindowQueue::choose_phase() {
  auto phase = planner_.next();
  if (phase.kind == PhaseKind::wait || phase.kind == PhaseKind::warmup || planner_.planned())
    return phase;
  const bool wanted = rt_.settings.phase_hw || rt_.settings.phase_flops;
  const MetricPlan* plan = wanted ? hooks_.wait_for_plan() : nullptr;
  const auto passes = passes_of(plan);
  planner_.set_passes(passes.groups, passes.flops);
  if (plan != nullptr && !passes.flops) ladder_.leave_out(PhaseKind::flops);
  for (const auto kind : {PhaseKind::hw, PhaseKind::flops})
    if (!ladder_.taken(kind)) planner_.give_up(kind);  // before the queue began anew
  return planner_.next();
}

Phase WindowQueue::choose_keys(Phase phase) {
  open_.chosen.reset();
  if (!limited()) return phase;
  if (planner_.take_hopeless()) {
    rt_.notes.say(
        "Following the launches alone takes more than --budget allows: nothing more is collected.");
    phase = planner_.next();
  }
  if (!is_counter(phase.kind)) return phase;
  auto request = planner_.choice();
  request.query.counted = hooks_.counted;
  request.windows = counts_.seen;
  request.all = !are_pushed(ladder_.mode(phase.kind));
  auto choice =
      sink_.with_profile([&](Profile& profile) { return gable::choose_keys(profile, request); });
  planner_.chosen(choice);
  if (!choice.enough()) return {PhaseKind::wait, 0};
  open_.chosen = std::make_shared<const KeyChoice>(std::move(choice));
  return phase;
}

bool WindowQueue::is_chosen(const LaunchKey& key) {
  if (!limited()) return true;
  const MutexLock hold(mutex_);
  return open_.chosen == nullptr || open_.chosen->keys.contains(key);
}

// --- windows begin

void WindowQueue::begin_window(std::uint64_t now) {
  if (state_.ended()) return;
  ++step_;
  flaws_.store(0, std::memory_order_relaxed);
  ordinal_.store(0, std::memory_order_relaxed);
  const auto functions = static_cast<FunctionId>(rt_.functions.size());
  planner_.budget().begin(now);
  // While CUPTI is left alone nothing is due, and no window is spent on it. Ranks stay in step.
  const bool waits =
      !planner_.queue().by_number() && !planner_.queue().complete() && hooks_.may_return();
  const auto phase = waits ? Phase{PhaseKind::wait, 0} : choose_keys(choose_phase());
  open_.start_ns = now;
  open_.reach = planner_.queue().reaching() && phase.kind == PhaseKind::time;
  open_.changed = open_.calls = false;
  open_.change_ns = 0;
  open_.functions_before = functions;
  if (phase.kind == PhaseKind::off) {
    no_window_left();
  } else {
    make_room();
    sink_.take_spans(kNoWindow);
    open_window(phase);
  }
  publish();
}

void WindowQueue::make_room() {
  const std::size_t usual = by_steps() ? usual_launches_ : rt_.settings.window;
  const std::size_t others = ThreadRegistry::instance().launches_of_others();
  const auto wanted = (usual + usual / 4 + kRoom + others) * range_factor_;
  max_ranges_.store(std::min(wanted, kMostRanges), std::memory_order_relaxed);
}

void WindowQueue::open_window(Phase phase) {
  if (!state_.begin(phase)) return;
  const auto window = state_.window();
  // A step that ends before the next begins has none beside it.
  const bool step = phase.kind == PhaseKind::time && by_steps() && border() != Border::profiler;
  open_.calls = sink_.begin_window(window, phase, step);
}

// A step that has begun cannot be a time window, because its earlier copies ran unseen; it can only
// take counters.
void WindowQueue::choose_again(const std::string& reason) {
  auto phase = planner_.next();
  if ((by_steps() && !is_counter(phase.kind)) || limited()) phase = {PhaseKind::wait, 0};
  replace_window(phase, reason);
}

void WindowQueue::replace_window(Phase phase, const std::string& reason) {
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

void WindowQueue::no_window_left() {
  const bool was_idle = state_.state() == WindowState::State::idle;
  if (!(hooks_.looks_on() ? state_.rest() : state_.finish())) return;
  if (state_.ended() || !was_idle) ask_for_change();
}

std::optional<std::uint32_t> WindowQueue::step_to_describe(bool put_off) {
  const MutexLock hold(mutex_);
  if (!state_.in_window() || border() != Border::point) return std::nullopt;
  if (state_.phase().kind == PhaseKind::wait) return step_;
  if (!put_off || limited()) return std::nullopt;  // a budget is for measuring
  // Counter windows record no times, so describing the model cannot distort any.
  if (state_.counts()) {
    slowed_step_ = step_;
    return step_;
  }
  if (planner_.queue().by_number()) return std::nullopt;  // ranks stay in step
  replace_window({PhaseKind::wait, 0}, {});
  return step_;
}

// --- windows end

void WindowQueue::close_window(std::uint64_t now, const std::string& spoilt, bool cut) {
  const auto phase = state_.phase();
  const bool counting = state_.counting();
  const auto summary = state_.in_window() ? sink_.summary(step_) : StepSummary{};
  // Where CUPTI began to take counters it has to be stopped, also when no launch was seen since.
  const bool unread = is_counter(phase.kind) && (counting || summary.launches > 0);
  if (!state_.end(unread)) return;
  // Borders come on several threads, which read the clock before they get here.
  now = std::max(now, open_.start_ns);
  const bool steps = by_steps();
  sink_.take_spans(state_.window());
  auto end = end_of(summary, now);
  planner_.budget().ended({phase, end.sequence_hash, summary.launches,
                           open_.chosen ? open_.chosen->launches : summary.launches,
                           now - open_.start_ns, end.overhead_ns});
  const WindowFacts facts{end.window,
                          phase,
                          end.sequence_hash,
                          summary.launches,
                          flaws_.load(std::memory_order_relaxed),
                          steps};
  const bool empty = summary.launches == 0;
  const auto verdict = cut ? Verdict{spoilt, false} : planner_.ended(facts, spoilt);
  end.reason = verdict.reason;
  end.keep = end.reason.empty() && !empty;
  if (unread) {
    const auto before = open_.functions_before;
    ended_.push_back({number_, end, facts, verdict.without_new_functions ? before : 0, before});
  }
  publish();
  if (!cut && !empty) {
    // Steps of several threads differ; a long one is not forgotten at once.
    usual_launches_ = std::max(summary.launches, usual_launches_ - usual_launches_ / 8);
    ++counts_.seen;
    if (steps)
      sink_.with_profile([&end](Profile& profile) { profile.count_step(end.sequence_hash); });
  }
  if (unread) return;
  if (phase.kind == PhaseKind::time && end.keep && !end.reach) {
    time_window_ended(end, facts);
  } else {
    if (end.reach && activity_.enabled()) hooks_.records_wanted();
    sink_.end_window(end);
  }
}

WindowEnd WindowQueue::end_of(const StepSummary& summary, std::uint64_t now) const {
  WindowEnd end;
  end.window = state_.window();
  end.phase = state_.phase();
  end.start_ns = slowed_step_ == step_ ? 0 : open_.start_ns;
  end.end_ns = now;
  end.overhead_ns = sink_.take_overhead_ns();
  end.changed = open_.changed;
  end.step = step_;
  end.reach = open_.reach && end.phase.kind == PhaseKind::time;
  end.apart = border() == Border::profiler;
  end.change_ns = open_.change_ns;
  end.launches = summary.launches;
  end.sequence_hash = by_steps() ? summary.hash : 0;
  return end;
}

void WindowQueue::time_window_ended(const WindowEnd& end, const WindowFacts& facts) {
  ++counts_.time;
  if (activity_.enabled()) hooks_.records_wanted();
  const auto query = planner_.query(facts);
  planner_.progress(facts, sink_.with_profile([&](Profile& profile) {
    if (activity_.lacks_copies()) profile.lose_copies(end.window);
    sink_.end_window_locked(end);
    return key_needs(profile, query);
  }));
}

std::vector<EndedWindow> WindowQueue::take_ended() { return std::exchange(ended_, {}); }

void WindowQueue::drop_ended() {
  for (auto& window : ended_) {
    window.end.keep = false;
    window.end.reason.clear();
  }
}

std::optional<Phase> WindowQueue::spoil_ended(const std::string& reason) {
  if (ended_.empty()) return std::nullopt;
  auto phase = state_.phase();
  for (auto& window : ended_) {
    if (!window.end.keep) continue;
    window.end.keep = false;
    window.end.reason = reason;
    window.retract = true;
    phase = window.end.phase;
  }
  return phase;
}

void WindowQueue::was_read(const EndedWindow& window, const KeyNeeds& needs) {
  ++(window.end.phase.kind == PhaseKind::hw ? counts_.hw : counts_.flops);
  planner_.progress(window.facts, needs);
}

// --- what launches are told

// What launches and ranges of the window that is open (or none) are told. A launch that sees any of
// it sees that CUPTI has to follow, too: that is told first.
void WindowQueue::publish() {
  if (state_.collects() || state_.unread() > 0) ask_for_change();
  tell_launches();
}

void WindowQueue::tell_launches() {
  rt_.hot.step.store(step_, std::memory_order_release);
  rt_.hot.window.store(state_.of_launches(), std::memory_order_release);
  rt_.hot.span_window.store(state_.times() ? state_.window() : kNoWindow,
                            std::memory_order_relaxed);
  const bool between = state_.state() == WindowState::State::between;
  const bool calls = open_.calls && (state_.times() || between);
  rt_.hot.call_window.store(calls ? state_.window() : kNoWindow, std::memory_order_relaxed);
  rt_.hot.counters.store(state_.counts(), std::memory_order_release);
}

void WindowQueue::ask_for_change() {
  ++asked_;
  rt_.hot.pending.store(true, std::memory_order_seq_cst);
}

// Only now may other launches pass; a border that came meanwhile asks for another turn.
void WindowQueue::settled(std::uint64_t asked, bool changed, std::uint64_t began,
                          std::uint64_t ended) {
  planner_.budget().settled(ended - began);
  if (changed) {
    open_.changed = true;
    const auto within = std::max(began, open_.start_ns);  // the window may have begun meanwhile
    open_.change_ns += ended > within ? ended - within : 0;
  }
  if (asked != asked_) return;
  if (state_.state() == WindowState::State::announced && !state_.follow()) return;
  tell_launches();
  rt_.hot.pending.store(false, std::memory_order_release);
}

// --- what the report tells

// Of steps by a range that is named, whatever this run had for borders.
std::optional<std::uint32_t> WindowQueue::steps_needed() const {
  const bool counters = rt_.settings.phase_hw || rt_.settings.phase_flops;
  const MetricPlan* plan = counters ? hooks_.known_plan() : nullptr;
  if (counters && plan == nullptr) return std::nullopt;
  auto wanted = options(Border::range);
  const auto passes = passes_of(plan);
  wanted.hw_groups = passes.groups;
  wanted.flops = wanted.flops && passes.flops;
  return PhaseQueue(wanted).least_steps();
}

WindowQueue::Counts WindowQueue::counts() {
  auto counts = counts_;
  counts.classes = planner_.queue().classes();
  counts.budget = planner_.budget().percent();
  counts.added = planner_.budget().added_percent();
  if (counts.added) counts.added_ns = planner_.budget().added_ns();
  // Where everything was given up, no number of steps helps.
  if (measured() || !(planner_.queue().complete() || hooks_.may_return()))
    counts.needed = steps_needed();
  return counts;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/window_reader.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "collector/layers/graph_nodes.h"

namespace gable {

WindowReader::WindowReader(Runtime& rt, EventSink& sink, Counters& counters, WindowQueue& queue,
                           StepBorders& borders, CountingFallback& fallback, RecordClock& clock,
                           Hooks hooks)
    : rt_(rt),
      sink_(sink),
      counters_(counters),
      queue_(queue),
      borders_(borders),
      fallback_(fallback),
      clock_(clock),
      hooks_(std::move(hooks)) {}

void WindowReader::read(EndedWindow window) {
  auto& end = window.end;
  auto outcome = counters_.finish();
  const auto query = judge(window, outcome);
  const auto needs = add(window, outcome, query);
  if (!end.keep && !end.reason.empty()) {
    rt_.notes.record("A window of phase " + to_string(end.phase) +
                     " was thrown away: " + end.reason);
  }
  // CUPTI's state is unknown after that, so the next window starts from scratch.
  if (!outcome.failed.empty() && !counters_.hangs()) (void)counters_.close();
  was_read(window, outcome, needs);
  fallback_.say_owed(queue_, outcome.keep ? end.phase.kind : PhaseKind::off);
}

// Whether it is kept; what to ask of the profile then.
ProgressQuery WindowReader::judge(EndedWindow& window, CountersOutcome& outcome) {
  auto& end = window.end;
  if (!end.keep) {
    outcome.keep = false;
  } else if (!outcome.keep) {
    end.keep = false;
    end.reason = outcome.reason;
    window.retract = true;
  }
  if (outcome.keep && counters_.mode() == RangeMode::replay) forget_unpatched(window, outcome);
  if (outcome.keep && outcome.graphs_left_out > 0) say_graphs_are_left_out();
  const MutexLock hold(queue_.mutex());
  auto query = queue_.planner().query(window.facts);
  query.counted = [this](const LaunchKey& key) {
    return !(graphs_left_out_ && is_graph(key)) && (!hooks_.counted || hooks_.counted(key));
  };
  if (outcome.keep && queue_.ladder().on_trial(end.phase.kind)) {
    end.keep = false;
    end.reason = "It was only a trial of whether counters of layers can be taken.";
    window.retract = true;
  }
  return query;
}

KeyNeeds WindowReader::add(const EndedWindow& window, const CountersOutcome& outcome,
                           const ProgressQuery& query) {
  const auto& end = window.end;
  const auto believed = [&window](FunctionId newest) {
    return window.new_functions == 0 || newest < window.new_functions;
  };
  return sink_.with_profile([&](Profile& profile) {
    for (const auto& result : outcome.contexts) {
      for (std::size_t i = 0; end.keep && i < result.keys.size(); ++i) {
        if (!believed(result.newest[i])) continue;
        CounterSample sample{result.keys[i], result.values.data() + i * result.metrics,
                             result.launches[i]};
        sample.pushed = are_pushed(counters_.mode());
        profile.add(end.phase, end.window, sample);
        if (auto* recorder = sink_.recorder()) recorder->add(end.phase, end.window, sample);
      }
    }
    sink_.end_window_locked(end);
    LostCounts lost;
    lost.ranges = outcome.lost_ranges;
    profile.add_lost(lost);
    return end.keep ? key_needs(profile, query) : KeyNeeds{};
  });
}

// Borders went on meanwhile: what is told to the queue is told to the one that the window was of.
void WindowReader::was_read(const EndedWindow& window, const CountersOutcome& outcome,
                            const KeyNeeds& needs) {
  const auto most = counters_.most_ranges();
  const auto now = outcome.too_small ? clock_.now() : 0;
  const auto trouble = fallback_.trouble_of(window, outcome);
  const auto kind = window.end.phase.kind;
  const MutexLock hold(queue_.mutex());
  auto& planner = queue_.planner();
  auto& state = queue_.state();
  if (outcome.too_small) queue_.want_more_ranges();
  const bool open = state.read_one();
  if (!open || window.queue != queue_.number()) {
    if (trouble && !outcome.failed.empty()) fallback_.fall_back(queue_, kind, *trouble);
    return;
  }
  if (outcome.too_small && window.facts.steps && window.facts.launches > most)
    borders_.leave_long_steps(window.facts.launches, most, now);
  if (window.queue != queue_.number()) return;
  if (window.end.keep || window.retract) planner.counters_read(window.facts, outcome);
  if (trouble)
    fallback_.fall_back(queue_, kind, *trouble);
  else if (outcome.keep)
    fallback_.follow(queue_, kind, queue_.ladder().worked(kind), {});
  // Where CUPTI does not return nothing was there to fit.
  if (planner.take_distrust() && !counters_.hangs()) {
    fallback_.follow(queue_, PhaseKind::hw, queue_.ladder().give_up_all(),
                     "Counters cannot be told apart by launch here (in no window did the counts of "
                     "thread blocks match the grids).");
  }
  if (window.end.keep) queue_.was_read(window, needs);
  const auto due = planner.next();
  if (due.kind != PhaseKind::off && state.revive()) return;  // the next border goes on
  // To the window that began meanwhile no launch belongs yet.
  if (state.state() == WindowState::State::announced && due != state.phase() &&
      (!queue_.limited() || state.counts()))
    queue_.choose_again({});
}

void WindowReader::say_graphs_are_left_out() {
  if (std::exchange(graphs_left_out_, true)) return;
  rt_.notes.say(
      "CUPTI does not replay the kernels of CUDA graphs, so their counters are unknown; without "
      "--replay kernel Gable counts each graph as a whole.");
}

// Instrumented code counts nothing in a module that was loaded too late to be patched. Where that
// would pass for a kernel without operations, they are unknown.
void WindowReader::forget_unpatched(const EndedWindow& window, CountersOutcome& outcome) {
  if ((window.facts.flaws & kModuleLoaded) == 0) return;
  const MetricPlan* plan = hooks_.plan();
  std::vector<std::size_t> patched;
  for (std::size_t pass = 0; plan != nullptr && pass < plan->passes.size(); ++pass) {
    if (plan->passes[pass].phase != window.end.phase) continue;
    const auto& metrics = plan->passes[pass].metrics;
    for (std::size_t i = 0; i < metrics.size(); ++i)
      if (metrics[i].find("__sass_") != std::string::npos) patched.push_back(i);
  }
  for (auto& result : outcome.contexts) {
    for (std::size_t row = 0; row < result.keys.size(); ++row) {
      if (result.newest[row] < window.first_new) continue;
      double* const values = result.values.data() + row * result.metrics;
      const bool counted = std::any_of(patched.begin(), patched.end(),
                                       [&](std::size_t i) { return values[i] != 0; });
      for (const std::size_t i : patched)
        if (!counted) values[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
}

}  // namespace gable

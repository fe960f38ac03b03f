// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/play.h"

#include <unordered_map>
#include <utility>

#include "analysis/builder/report_builder.h"
#include "analysis/profile/profile.h"
#include "collector/queue/launch_sequence.h"
#include "collector/queue/planner.h"
#include "tests/simulation/gpu.h"
#include "tests/simulation/truth.h"

namespace gable::simulation {
namespace {

QueueOptions queue_options(bool steps, bool found) {
  QueueOptions options;
  options.wait = steps && !found ? 1 : 0;
  options.warmup = steps ? 1 : 0;
  options.until_repeat = steps && !found;
  options.steps = steps;
  return options;
}

std::uint64_t hash_of(const Launch& launch) {
  const auto& key = launch.key;
  return Chance((std::uint64_t{key.function} << 32 | key.grid.y) * 31 +
                std::uint64_t{key.grid.x} * 7 + key.dynamic_shared)
      .next();
}

class Run {
 public:
  Run(const Program& program, const PlayOptions& options)
      : program_(program),
        options_(options),
        profile_(layers_, functions_, {}, options.checks),
        planner_(queue_options(program.has_steps, false), options.checks),
        sequence_(options.checks),
        noise_(program.seed ^ 0xABCDEF),
        steps_(program.has_steps) {
    planner_.set_passes(program.groups, true);
    for (std::uint32_t group = 0; group < program.groups; ++group)
      profile_.set_metrics({PhaseKind::hw, static_cast<std::uint8_t>(group)}, hw_metrics());
    profile_.set_metrics({PhaseKind::flops, 0}, flops_metrics());
  }

  Played run() {
    while (!played_.over && !played_.ended && window_ < options_.most_windows &&
           played_.launches < options_.most_launches) {
      if (program_.has_steps) {
        phase_ = planner_.next();
        played_.over = phase_.kind == PhaseKind::off;
        if (played_.over) break;
        for (const Launch& launch : next_step()) add(launch);
        window(false);
      } else {
        for (const Launch& launch : next_step()) {
          follow(launch);
          if (played_.over) break;
        }
      }
    }
    window(steps_ && !program_.has_steps);
    if (!played_.over && !played_.ended) played_.wrong.emplace_back("the queue never ends");
    profile_.finish_records();
    played_.period = sequence_.length();
    truth_.compare(build_report(profile_, RunInfo{}), played_);
    if (played_.over) truth_.compare_borders(program_, played_);
    return std::move(played_);
  }

 private:
  std::vector<Launch> next_step() {
    const auto step = played_.steps++;
    played_.ended = played_.steps >= program_.length;
    return program_.launches(step);
  }

  // The launch belongs to the window that is open, with everything that happens in its step.
  void add(const Launch& launch) {
    content_.launches.push_back(launch);
    const auto has = [&](Trouble trouble) { return program_.has(trouble, launch.step); };
    if (has(Trouble::module_reload)) content_.flaws |= kModuleLoaded;
    if (has(Trouble::capture)) content_.flaws |= kCapture;
    if (has(Trouble::stuck)) content_.flaws |= kStuck;
    content_.dropped = content_.dropped || has(Trouble::dropped);
    content_.missing = content_.missing || has(Trouble::missing);
    content_.unranged = content_.unranged || has(Trouble::unranged);
    content_.overlap = content_.overlap || has(Trouble::overlap);
  }

  // A launch of a program without steps, as Windows takes it.
  void follow(const Launch& launch) {
    ++played_.launches;
    switch (sequence_.add(threads_ + (launch.other_thread ? 1 : 0), hash_of(launch))) {
      case PeriodMark::found:
        start_over(true);
        open();
        break;
      case PeriodMark::changed:
        if (steps_) window(true);
        if (!steps_) start_over(true, false);
        open();
        break;
      case PeriodMark::begins:
        window(false);
        open();
        break;
      case PeriodMark::lost:
        window(true);
        is_open_ = false;
        played_.over = planner_.next().kind == PhaseKind::off && !sequence_.hopeful();
        break;
      case PeriodMark::gone:
        played_.over = planner_.next().kind == PhaseKind::off;
        if (!played_.over) start_over(false);
        break;
      case PeriodMark::none:
        break;
    }
    if (!steps_ && counted_++ % program_.window == 0) {
      window(false);
      open();
    }
    if (is_open_) add(launch);
  }

  void open() {
    phase_ = planner_.next();
    is_open_ = phase_.kind != PhaseKind::off;
    played_.over = !is_open_ && !sequence_.hopeful();
  }

  void start_over(bool steps, bool forget = true) {
    content_ = {};
    is_open_ = false;
    steps_ = steps;
    counted_ = 0;
    planner_ = Planner(queue_options(steps, true), options_.checks);
    planner_.set_passes(program_.groups, true);
    if (!forget) return;
    profile_.restart();
    truth_ = {};
    played_.windows.clear();
  }

  // Gives launches the ids of layers and functions; those of the program are its own numbers.
  LaunchKey identify(Launch& launch, std::uint32_t& flaws) {
    LaunchKey key = launch.key;
    const auto [function, is_new] = function_ids_.try_emplace(key.function, 0);
    if (is_new) {
      function->second = functions_.intern("f" + std::to_string(key.function));
      flaws |= kNewFunction;
      new_.insert({key.function, window_});
    }
    launch.is_new = new_.at(key.function) == window_;
    const auto [layer, unseen] = layer_ids_.try_emplace(key.layer, 0);
    if (unseen) layer->second = layers_.child(0, "l" + std::to_string(key.layer), Direction::none);
    key.function = function->second;
    key.layer = layer->second;
    return key;
  }

  // The window that is open ends; where it is `cut` it was no step.
  void window(bool cut) {
    Content content = std::exchange(content_, {});
    if (content.launches.empty() && !program_.has_steps) return;
    const Phase phase = phase_;
    ++window_;
    const auto known_before = static_cast<FunctionId>(functions_.size());
    profile_.begin_window(window_, phase);
    auto as_launched = content.launches;
    if (program_.has_steps) played_.launches += as_launched.size();
    WindowFacts facts{window_, phase, 0, content.launches.size(), 0, steps_};
    const bool measuring = phase.kind >= PhaseKind::hw;
    const auto first_correlation = correlation_ + 1;
    for (std::size_t i = 0; i < content.launches.size(); ++i) {
      Launch& launch = content.launches[i];
      facts.hash += hash_of(launch);
      launch.key = identify(launch, content.flaws);
      as_launched[i].is_new = launch.is_new;
      profile_.add(LaunchEvent{launch.key, measuring ? window_ : kNoWindow, ++correlation_, false});
    }
    facts.flaws = content.flaws;
    WindowEnd end;
    end.window = window_;
    end.phase = phase;
    end.start_ns = std::uint64_t{1000} * window_;
    end.end_ns = end.start_ns + 900;
    end.sequence_hash = steps_ ? facts.hash : 0;
    end.launches = facts.launches;
    const auto verdict = cut ? Verdict{"It is no step.", false} : planner_.ended(facts, {});
    end.reason = verdict.reason;
    end.keep = verdict.reason.empty() && facts.launches > 0;
    if (steps_ && !cut) {
      profile_.count_step(end.sequence_hash);
      truth_.step(end.sequence_hash);
    }
    if (phase.kind == PhaseKind::hw || phase.kind == PhaseKind::flops) {
      counters(content, facts, verdict.without_new_functions ? known_before : 0, end);
    } else {
      if (phase.kind == PhaseKind::time) times(content, first_correlation);
      profile_.end_window(end);
      if (phase.kind == PhaseKind::time && end.keep)
        planner_.progress(facts, key_needs(profile_, planner_.query(facts)));
    }
    if (!measuring) return;
    if (!end.keep) {
      ++played_.thrown_away;
      return;
    }
    ++played_.windows[to_string(phase)];
    truth_.add(program_, phase.kind, end.sequence_hash, as_launched);
    if (steps_ && !program_.has_steps) truth_.add_step(program_, as_launched);
  }

  void counters(const Content& content, const WindowFacts& facts, FunctionId believed_below,
                WindowEnd& end) {
    const bool was_kept = end.keep;
    std::vector<CounterResult> results;
    results.push_back(count(program_, content, facts.phase, noise_, options_.checks));
    const auto outcome = outcome_of(std::move(results));
    if (was_kept && outcome.keep) {
      const auto& result = outcome.contexts.front();
      for (std::size_t i = 0; i < result.keys.size(); ++i) {
        if (believed_below != 0 && result.keys[i].function >= believed_below) continue;
        profile_.add(facts.phase, facts.window,
                     {result.keys[i], result.values.data() + i * result.metrics});
      }
    }
    end.keep = was_kept && outcome.keep;
    if (was_kept) end.reason = outcome.reason;
    profile_.end_window(end);
    if (!was_kept) return;
    planner_.counters_read(facts, outcome);
    if (end.keep) planner_.progress(facts, key_needs(profile_, planner_.query(facts)));
  }

  void times(const Content& content, std::uint32_t correlation) {
    for (const Launch& launch : content.launches) {
      clock_ns_ += 1000;
      const auto ns = static_cast<std::uint64_t>(took(program_, launch, noise_));
      profile_.add(KernelRecord{clock_ns_, clock_ns_ + ns, correlation++, 0, 1, 1});
      clock_ns_ += ns;
    }
  }

  const Program& program_;
  const PlayOptions& options_;
  LayerTree layers_;
  FunctionTable functions_;
  Profile profile_;
  Planner planner_;
  LaunchSequence sequence_;
  Chance noise_;
  Truth truth_;
  Played played_;
  Content content_;     // of the window that is open
  Phase phase_;         // its
  bool steps_ = false;  // windows are steps
  bool is_open_ = false;
  std::uint64_t counted_ = 0;
  const char threads_[2] = {0, 1};
  std::unordered_map<std::uint32_t, FunctionId> function_ids_;
  std::unordered_map<std::uint32_t, WindowId> new_;  // in which window each function was new
  std::unordered_map<std::uint32_t, LayerId> layer_ids_;
  WindowId window_ = 0;
  std::uint32_t correlation_ = 0;
  std::uint64_t clock_ns_ = 1000000;
};

}  // namespace

Played play(const Program& program, const PlayOptions& options) {
  return Run(program, options).run();
}

}  // namespace gable::simulation

// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/play.h"

#include <unordered_map>

#include "analysis/profile.h"
#include "analysis/report_builder.h"
#include "collector/planner.h"
#include "tests/simulation/gpu.h"
#include "tests/simulation/truth.h"

namespace gable::simulation {
namespace {

QueueOptions queue_options(const Program& program) {
  QueueOptions options;
  options.wait = options.warmup = program.has_steps ? 1 : 0;
  options.until_repeat = program.has_steps;
  return options;
}

class Run {
 public:
  Run(const Program& program, const PlayOptions& options)
      : program_(program),
        options_(options),
        profile_(layers_, functions_, {}, options.checks),
        planner_(queue_options(program), options.checks),
        noise_(program.seed ^ 0xABCDEF) {
    planner_.set_passes(program.groups, true);
    for (std::uint32_t group = 0; group < program.groups; ++group)
      profile_.set_metrics({PhaseKind::hw, static_cast<std::uint8_t>(group)}, hw_metrics());
    profile_.set_metrics({PhaseKind::flops, 0}, flops_metrics());
  }

  Played run() {
    while (!played_.over && !played_.ended && window_ < options_.most_windows) {
      const Phase phase = planner_.next();
      played_.over = phase.kind == PhaseKind::off;
      if (played_.over) break;
      window(phase);
    }
    profile_.finish_records();
    truth_.compare(build_report(profile_, RunInfo{}), played_);
    return std::move(played_);
  }

 private:
  // The launches up to the next border, and everything that happens meanwhile.
  Content next_content() {
    Content content;
    const auto take_step = [&] {
      const auto step = played_.steps++;
      played_.ended = played_.steps >= program_.length;
      return program_.launches(step);
    };
    if (program_.has_steps) {
      content.launches = take_step();
    } else {
      while (queued_.size() < program_.window && !played_.ended) {
        const auto more = take_step();
        queued_.insert(queued_.end(), more.begin(), more.end());
      }
      const auto end = queued_.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(
                                             queued_.size(), program_.window));
      content.launches.assign(queued_.begin(), end);
      queued_.erase(queued_.begin(), end);
    }
    if (content.launches.empty()) return content;
    for (auto step = content.launches.front().step; step <= content.launches.back().step; ++step) {
      const auto has = [&](Trouble trouble) { return program_.has(trouble, step); };
      if (has(Trouble::module_reload)) content.flaws |= kModuleLoaded;
      if (has(Trouble::capture)) content.flaws |= kCapture;
      if (has(Trouble::stuck)) content.flaws |= kStuck;
      content.dropped = content.dropped || has(Trouble::dropped);
      content.missing = content.missing || has(Trouble::missing);
      content.unranged = content.unranged || has(Trouble::unranged);
      content.overlap = content.overlap || has(Trouble::overlap);
    }
    return content;
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

  void window(Phase phase) {
    ++window_;
    const auto known_before = static_cast<FunctionId>(functions_.size());
    profile_.begin_window(window_, phase);
    Content content = next_content();
    auto as_launched = content.launches;
    played_.launches += as_launched.size();
    WindowFacts facts{window_, phase, 0, content.launches.size(), 0, program_.has_steps};
    const bool measuring = phase.kind >= PhaseKind::hw;
    const auto first_correlation = correlation_ + 1;
    for (std::size_t i = 0; i < content.launches.size(); ++i) {
      Launch& launch = content.launches[i];
      const auto number = launch.key;
      launch.key = identify(launch, content.flaws);
      as_launched[i].is_new = launch.is_new;
      facts.hash += Chance((std::uint64_t{number.function} << 32 | number.grid.y) * 31 +
                           std::uint64_t{number.grid.x} * 7 + number.dynamic_shared)
                        .next();
      profile_.add(LaunchEvent{launch.key, measuring ? window_ : kNoWindow, ++correlation_, false});
    }
    facts.flaws = content.flaws;
    WindowEnd end;
    end.window = window_;
    end.phase = phase;
    end.start_ns = std::uint64_t{1000} * window_;
    end.end_ns = end.start_ns + 900;
    end.sequence_hash = program_.has_steps ? facts.hash : 0;
    end.launches = facts.launches;
    const auto verdict = planner_.ended(facts, {});
    end.reason = verdict.reason;
    end.keep = verdict.reason.empty() && facts.launches > 0;
    if (program_.has_steps) {
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
  Chance noise_;
  Truth truth_;
  Played played_;
  std::vector<Launch> queued_;
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

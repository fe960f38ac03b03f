// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/gpu.h"

#include <algorithm>

#include "collector/queue/window_judge.h"

namespace gable::simulation {
namespace {

constexpr double kNoise = 0.01;  // of bytes and times; instructions are counted exactly

double noisy(Chance& chance) { return chance.uniform(1 - kNoise, 1 + kNoise); }

// Launches that stay without counters; always the same ones of a sequence.
bool is_left_out(const Program& program, const Launch& launch, std::size_t index) {
  return program.work == Work::by_ordinal && program.varies[launch.kernel] ? launch.work == 9
                                                                           : index % 3 == 2;
}

std::vector<double> values_of(const Program& program, const Launch& launch, Phase phase,
                              Chance& noise) {
  const Kernel& kernel = program.kernels[launch.kernel];
  if (phase.kind == PhaseKind::flops) {
    // Instrumentation does not see code that came after it.
    const bool unseen = launch.reloaded || launch.is_new;
    return {0, 0, unseen ? 0 : kernel.ffma * launch.work * launch.flops};
  }
  const double sectors = kernel.sectors * launch.work * launch.bytes;
  return {sectors * noisy(noise), sectors * noisy(noise), kernel.ns * launch.work * noisy(noise),
          static_cast<double>(launch.key.grid.count())};
}

void scale(std::vector<double>& values, double factor, bool thread_blocks = false) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i != 3 || thread_blocks) values[i] *= factor;
}

}  // namespace

CounterResult count(const Program& program, const Content& content, Phase phase, Chance& noise,
                    const JoinChecks& checks) {
  const bool captured = (content.flaws & kCapture) != 0, stuck = (content.flaws & kStuck) != 0;
  const double beside = 1.5 + static_cast<double>(program.seed % 100) / 50;  // what runs beside it
  std::vector<RangedLaunch> launches;
  RangeReading reading;
  CounterResult result;
  for (std::size_t i = 0; i < content.launches.size(); ++i) {
    const Launch& launch = content.launches[i];
    const bool left_out = is_left_out(program, launch, i);
    if (content.unranged && left_out) {
      ++result.unranged;
      continue;
    }
    const auto name = std::to_string(launches.size());
    launches.push_back({launch.key, static_cast<std::uint32_t>(i), true});
    auto values = values_of(program, launch, phase, noise);
    if (content.missing && left_out) continue;
    if (captured && i >= content.launches.size() / 2) scale(values, 0.5);
    if (stuck) scale(values, 3);
    if (content.overlap) scale(values, beside, true);
    if (content.dropped && i % 10 == 0) {  // one range was lost, and its counts went to this one
      ++reading.dropped;
      scale(values, 2);
    }
    reading.ranges.push_back({name, std::move(values)});
  }
  if (program.reversed) std::reverse(reading.ranges.begin(), reading.ranges.end());
  const auto& metrics = phase.kind == PhaseKind::flops ? flops_metrics() : hw_metrics();
  join_ranges({launches, metrics, RangeMode::user, launches.size() + 1}, reading, result, checks);
  return result;
}

double took(const Program& program, const Launch& launch, Chance& noise) {
  return program.kernels[launch.kernel].ns * launch.work * noisy(noise);
}

}  // namespace gable::simulation

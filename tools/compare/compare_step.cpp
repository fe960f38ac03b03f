// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/compare_step.h"

#include <cmath>

#include "tools/compare/compare_noise.h"

namespace gable {
namespace {

struct StepSide {
  Maybe wall_ns, idle_ns, exposed_ns, waits_ns, error_ns, wall_range, idle_range, exposed_range;
};

// On the GPU, or on the host.
struct Timeline {
  Maybe Step::*mean;
  Maybe Step::*stddev;
};
constexpr Timeline kGpu{&Step::wall_mean_ns, &Step::wall_stddev_ns};
constexpr Timeline kHost{&Step::host_mean_ns, &Step::host_stddev_ns};

StepSide side_of(const std::vector<const Report*>& runs, const Timeline& on) {
  RunValues wall, idle, exposed, waits, error;
  for (const Report* run : runs) {
    const Step& step = run->step;
    if (run->run.unit != Unit::step) continue;
    wall.add(step.*on.mean);
    idle.add(step.idle_ns);
    exposed.add(step.exposed ? Maybe(step.exposed->communication_ns) : std::nullopt);
    waits.add(step.critical_path ? step.critical_path->waits_ns : std::nullopt);
    const auto steps = static_cast<double>(run->run.steps.time);
    const Maybe& spread = step.*on.stddev;
    // Between kinds of steps, or between processes, it is no chance.
    const bool alike = run->run.steps.classes <= 1 && run->run.processes.empty();
    if (alike && spread && steps >= 2) error.add(*spread / std::sqrt(steps));
  }
  return {wall.mean(),  idle.mean(),  exposed.mean(), waits.mean(),
          error.mean(), wall.range(), idle.range(),   exposed.range()};
}

}  // namespace

ComparedStep compare_steps(const std::vector<const Report*>& a,
                           const std::vector<const Report*>& b) {
  StepSide before = side_of(a, kGpu), after = side_of(b, kGpu);
  ComparedStep out;
  out.gpu_ns = {before.wall_ns, after.wall_ns};
  if (!before.wall_ns || !after.wall_ns) {
    const StepSide host_before = side_of(a, kHost), host_after = side_of(b, kHost);
    out.on_host = host_before.wall_ns && host_after.wall_ns;
    if (out.on_host) {
      before = host_before;
      after = host_after;
    }
  }
  out.wall_ns = {before.wall_ns, after.wall_ns};
  out.idle_ns = {before.idle_ns, after.idle_ns};
  out.exposed_ns = {before.exposed_ns, after.exposed_ns};
  out.waits_ns = {before.waits_ns, after.waits_ns};
  out.noise_ns = noise_of(before.error_ns, after.error_ns);
  out.wall_range = larger(before.wall_range, after.wall_range);
  out.idle_range = larger(before.idle_range, after.idle_range);
  out.exposed_range = larger(before.exposed_range, after.exposed_range);
  return out;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/compare_step.h"

#include <cmath>

#include "tools/compare/compare_noise.h"

namespace gable {
namespace {

struct Side {
  Maybe wall_ns, idle_ns, error_ns, wall_range, idle_range;
};

Side side_of(const std::vector<const Report*>& runs) {
  RunValues wall, idle, error;
  for (const Report* run : runs) {
    const Step& step = run->step;
    if (run->run.unit != Unit::step) continue;
    wall.add(step.wall_mean_ns);
    idle.add(step.idle_ns);
    const auto steps = static_cast<double>(run->run.steps.time);
    if (step.wall_stddev_ns && steps >= 2) error.add(*step.wall_stddev_ns / std::sqrt(steps));
  }
  return {wall.mean(), idle.mean(), error.mean(), wall.range(), idle.range()};
}

}  // namespace

ComparedStep compare_steps(const std::vector<const Report*>& a,
                           const std::vector<const Report*>& b) {
  const Side before = side_of(a), after = side_of(b);
  ComparedStep out;
  out.wall_ns = {before.wall_ns, after.wall_ns};
  out.idle_ns = {before.idle_ns, after.idle_ns};
  out.noise_ns = noise_of(before.error_ns, after.error_ns);
  out.wall_range = larger(before.wall_range, after.wall_range);
  out.idle_range = larger(before.idle_range, after.idle_range);
  return out;
}

}  // namespace gable

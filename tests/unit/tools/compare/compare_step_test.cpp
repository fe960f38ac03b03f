// SPDX-License-Identifier: Apache-2.0
// The steps of both sides, each of which may have several runs.
#include "tools/compare/compare_step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tools/compare/compare_noise.h"

namespace gable::tests {
namespace {

Report step_of(double wall, double idle, double exposed) {
  Report report;
  report.run.unit = Unit::step;
  report.run.steps.time = 4;
  report.step.wall_mean_ns = wall;
  report.step.wall_stddev_ns = 8;
  report.step.idle_ns = idle;
  report.step.exposed.emplace().communication_ns = exposed;
  return report;
}

TEST(CompareSteps, MeansNoiseAndRanges) {
  const Report a = step_of(100, 10, 1), b = step_of(120, 16, 3), c = step_of(200, 30, 9);
  const ComparedStep step = compare_steps({&a, &b}, {&c});
  EXPECT_EQ(step.wall_ns.a, 110.0);
  EXPECT_EQ(step.wall_ns.b, 200.0);
  EXPECT_EQ(step.gpu_ns.a, 110.0);
  EXPECT_EQ(step.gpu_ns.b, 200.0);
  EXPECT_EQ(step.idle_ns.a, 13.0);
  EXPECT_EQ(step.idle_ns.b, 30.0);
  EXPECT_EQ(step.exposed_ns.a, 2.0);
  EXPECT_EQ(step.exposed_ns.b, 9.0);
  EXPECT_EQ(step.wall_range, 20.0);
  EXPECT_EQ(step.idle_range, 6.0);
  EXPECT_EQ(step.exposed_range, 2.0);
  EXPECT_DOUBLE_EQ(*step.noise_ns, 2 * std::sqrt(32.0));
  EXPECT_FALSE(step.on_host);
}

TEST(CompareSteps, NoiseNeedsTwoStepsOfOneKind) {
  const auto noise = [](std::uint64_t steps, std::uint64_t classes) {
    Report a = step_of(100, 10, 1);
    a.run.steps.time = steps;
    a.run.steps.classes = classes;
    return compare_steps({&a}, {&a}).noise_ns;
  };
  EXPECT_DOUBLE_EQ(*noise(2, 1), 2 * std::sqrt(64.0));
  EXPECT_FALSE(noise(1, 1));
  EXPECT_TRUE(noise(4, 0));
  EXPECT_FALSE(noise(4, 2));
}

TEST(CompareSteps, OnTheHostWhereBothKnowIt) {
  Report a = step_of(100, 10, 1), b = a;
  a.step.host_mean_ns = 50;
  b.step.wall_mean_ns.reset();
  EXPECT_FALSE(compare_steps({&a}, {&b}).on_host);
  EXPECT_EQ(compare_steps({&a}, {&b}).wall_ns.a, 100.0);
  b.step.host_mean_ns = 60;
  EXPECT_TRUE(compare_steps({&a}, {&b}).on_host);
  EXPECT_EQ(compare_steps({&a}, {&b}).wall_ns.a, 50.0);
  EXPECT_EQ(compare_steps({&b}, {&a}).wall_ns.a, 60.0);
  EXPECT_EQ(compare_steps({&a}, {&b}).gpu_ns.a, 100.0);
  a.run.unit = Unit::run;  // it has no steps
  EXPECT_FALSE(compare_steps({&a}, {&a}).wall_ns.a);
}

}  // namespace
}  // namespace gable::tests

// SPDX-License-Identifier: Apache-2.0
// The length of a step on the GPU, whatever the host does meanwhile.
#include "analysis/profile/step_times.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gable {
namespace {

constexpr std::uint64_t kUs = 1000;

class Steps : public ::testing::Test {
 protected:
  StepTimes times{1000};
  std::vector<std::uint64_t> steps, walls, idles;

  struct Kernel {
    std::uint64_t start_us = 0, end_us = 0;
    std::uint32_t stream = 0;
  };
  static TimedStep step(std::uint64_t number, const std::vector<Kernel>& kernels) {
    TimedStep made;
    made.step = number;
    for (const Kernel& kernel : kernels)
      made.records.push_back({kernel.start_us * kUs, kernel.end_us * kUs, 1, kernel.stream});
    return made;
  }
  void add(TimedStep of) {
    times.add(std::move(of), [this](const TimedStep& known, const StepTime& time) {
      steps.push_back(known.step);
      walls.push_back(time.wall_ns / kUs);
      idles.push_back(time.idle_ns / kUs);
    });
  }
  using Values = std::vector<std::uint64_t>;
};

TEST_F(Steps, LastToTheStartOfTheNextOnesFirstKernel) {
  add(step(1, {{100, 110}, {130, 150}}));
  EXPECT_TRUE(walls.empty());
  add(step(2, {{200, 210}, {230, 250}}));
  add(step(3, {{320, 330}}));
  EXPECT_EQ(steps, Values({1, 2}));
  EXPECT_EQ(walls, Values({100, 120}));
  EXPECT_EQ(idles, Values({70, 90}));
}

TEST_F(Steps, InWhicheverOrderTheirRecordsCame) {
  add(step(3, {{320, 330}}));
  add(step(1, {{100, 110}}));
  EXPECT_TRUE(walls.empty());
  add(step(2, {{200, 210}}));
  EXPECT_EQ(steps, Values({1, 2}));
  EXPECT_EQ(walls, Values({100, 120}));
}

TEST_F(Steps, AreUnknownWhereTheNextOneIsMissingOrWasSwitched) {
  add(step(1, {{100, 110}}));
  add(step(3, {{300, 310}}));
  TimedStep switched = step(4, {{400, 410}});
  switched.changed = true;
  add(std::move(switched));
  EXPECT_TRUE(walls.empty());
  add(step(5, {{500, 510}}));  // the one in which was switched has an end
  EXPECT_EQ(steps, Values({4}));
  add(step(0, {{600, 610}}));  // nobody knows which one it is
  EXPECT_EQ(walls, Values({100}));
}

// A stream beside the main one gets its first kernel while the step before still runs.
TEST_F(Steps, GoByTheStreamThatHasTheWork) {
  add(step(1, {{60, 70, 2}, {100, 190, 1}}));
  add(step(2, {{110, 120, 2}, {200, 290, 1}}));
  add(step(3, {{115, 120, 2}, {300, 390, 1}}));
  EXPECT_EQ(walls, Values({100, 100}));
  EXPECT_EQ(idles, Values({10, 10}));
}

TEST_F(Steps, OnAnotherStreamEachGoByTheFirstKernel) {
  add(step(1, {{100, 110, 1}}));
  add(step(2, {{150, 160, 2}}));
  EXPECT_EQ(walls, Values({50}));
}

// What the step before left running, what the next one has begun, and what was launched between
// them keep the GPU busy.
TEST_F(Steps, AreIdleOnlyWhereNothingRuns) {
  add(step(1, {{100, 190, 1}, {180, 230, 2}}));
  times.add_outside(260 * kUs, 270 * kUs);
  add(step(2, {{200, 250, 1}}));
  add(step(3, {{280, 285, 2}, {300, 350, 1}}));
  EXPECT_EQ(walls, Values({100, 100}));
  EXPECT_EQ(idles, Values({0, 35}));  // 250 to 260, 270 to 280, 285 to 300
}

TEST_F(Steps, ThatAreReachedEndTheOneBeforeAndAreNone) {
  add(step(1, {{100, 110}}));
  TimedStep reach = step(2, {{190, 200}});
  reach.reach = true;
  add(std::move(reach));
  add(step(3, {{500, 510}}));
  EXPECT_EQ(steps, Values({1}));
  EXPECT_EQ(walls, Values({90}));
}

TEST_F(Steps, WithOtherThingsBetweenThemEndWithTheirLastKernel) {
  TimedStep apart = step(1, {{100, 140, 1}, {150, 160, 2}});
  apart.apart = true;
  add(std::move(apart));
  EXPECT_EQ(walls, Values({60}));
  EXPECT_EQ(idles, Values({10}));
}

TEST_F(Steps, ThatCameBackwardsOrAreEmptyHaveNoLength) {
  add(step(1, {{100, 110}}));
  add(step(2, {}));
  add(step(2, {{90, 95}}));
  EXPECT_TRUE(walls.empty());
}

TEST_F(Steps, HoldNoMoreRecordsThanTheyMay) {
  std::vector<Kernel> many;
  for (std::uint64_t i = 0; i < 600; ++i) many.push_back({1000 + i, 1001 + i});
  add(step(1, many));
  for (Kernel& kernel : many) {
    kernel.start_us += 1000;
    kernel.end_us += 1000;
  }
  add(step(2, many));  // more than 1,000 together: the first one is measured, then let go
  EXPECT_EQ(walls, Values({1000}));
  add(step(1, many));
  EXPECT_EQ(walls, Values({1000}));
}

}  // namespace
}  // namespace gable

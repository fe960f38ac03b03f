// SPDX-License-Identifier: Apache-2.0
// Ranges that are steps, of one thread and of several.
#include "tools/calls/step_ranges.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

using Steps = std::vector<StepRanges::Step>;

TEST(StepRanges, NamesOfStepsAreOneLayer) {
  const StepRanges ranges("^step");
  EXPECT_EQ(ranges.step_name("step 17"), "step #");
  EXPECT_EQ(ranges.step_name("a step"), std::nullopt);
  const StepRanges none("");
  EXPECT_FALSE(none.asked());
  EXPECT_EQ(none.step_name("step 17"), std::nullopt);
}

TEST(StepRanges, OfOneThreadEachIsAStep) {
  StepRanges ranges("step");
  ranges.add(1, 20, 30);
  ranges.add(1, 10, 20);
  ranges.add(1, 40, 50);
  ranges.add(1, 45, 45);
  EXPECT_EQ(ranges.steps(), (Steps{{10, 20}, {20, 30}, {40, 50}}));
}

TEST(StepRanges, OneWithinAnotherIsNone) {
  StepRanges ranges("step");
  ranges.add(1, 10, 50);
  ranges.add(1, 20, 30);
  EXPECT_EQ(ranges.steps(), (Steps{{10, 50}}));
}

TEST(StepRanges, ThoseOfSeveralThreadsAreOneStep) {
  StepRanges ranges("step");
  ranges.add(1, 10, 20);
  ranges.add(2, 15, 30);
  ranges.add(1, 40, 50);
  EXPECT_EQ(ranges.steps(), (Steps{{10, 30}, {40, 50}}));
}

TEST(StepRanges, UntilAThreadBeginsItsNext) {
  StepRanges ranges("step");
  ranges.add(1, 10, 20);
  ranges.add(2, 15, 30);
  ranges.add(1, 22, 35);
  ranges.add(2, 32, 60);
  EXPECT_EQ(ranges.steps(), (Steps{{10, 22}, {22, 60}}));
}

}  // namespace
}  // namespace gable

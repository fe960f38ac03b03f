// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/sampled_cost.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

TEST(SampledCost, StandsForTheCallbacksThatWereNotMeasured) {
  SampledCost cost;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cost.add(150, 32), 150U * 32);
  EXPECT_EQ(cost.add(4000, 32), 4000U * 32);  // slow, as a callback may be
}

// 4 ms of another program's time, 32 times, would be more than a step.
TEST(SampledCost, APreemptedSampleCountsOnce) {
  SampledCost cost;
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(cost.add(4000000, 32), 4000000U) << round;
    for (int i = 0; i < 50; ++i) EXPECT_EQ(cost.add(150, 32), 150U * 32);
  }
}

TEST(SampledCost, ACostThatStaysHighIsBelieved) {
  SampledCost cost;
  int once = 0;
  while (cost.add(200000, 32) == 200000U) ++once;
  EXPECT_LE(once, 5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cost.add(200000, 32), 200000U * 32);
}

}  // namespace
}  // namespace gable

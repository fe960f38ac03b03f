// SPDX-License-Identifier: Apache-2.0
// With --replay kernel a user gets every counter that single passes have, in one configuration.
#include "collector/metrics/replay_plan.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/collector/real_cupti.h"

namespace gable {
namespace {

class ReplayPlan : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_REAL_CUPTI(); }
};

TEST_F(ReplayPlan, OnePassHasEachMetricOnce) {
  for (const char* const chip : {"GV100", "GA100", "GH100"}) {
    SCOPED_TRACE(chip);
    ChipMetrics metrics(real_cupti(), chip);
    const MetricPlan plan = plan_metrics(metrics, {});
    std::set<std::string> wanted;
    for (const PassPlan& pass : plan.passes)
      wanted.insert(pass.metrics.begin(), pass.metrics.end());
    ASSERT_GT(plan.passes.size(), 1u);

    const MetricPlan whole = replay_plan(metrics, plan);
    EXPECT_EQ(whole.error, "");
    ASSERT_EQ(whole.passes.size(), 1u);
    const PassPlan& pass = whole.passes.front();
    EXPECT_TRUE(pass.replayed);
    EXPECT_FALSE(pass.config_image.empty());
    EXPECT_EQ(pass.metrics.size(), wanted.size());
    EXPECT_EQ(std::set<std::string>(pass.metrics.begin(), pass.metrics.end()), wanted);
  }
}

TEST_F(ReplayPlan, WhatCuptiCannotConfigureIsSaid) {
  ChipMetrics metrics(real_cupti(), "GA100");
  MetricPlan plan;
  plan.passes.resize(1);
  plan.passes.front().metrics = {"no__such_metric.sum"};
  const MetricPlan whole = replay_plan(metrics, plan);
  EXPECT_TRUE(whole.passes.empty());
  EXPECT_EQ(whole.error,
            "CUPTI cannot configure all metrics together for GA100, so --replay kernel is not "
            "possible.");
  EXPECT_TRUE(replay_plan(metrics, {}).passes.empty());
}

}  // namespace
}  // namespace gable

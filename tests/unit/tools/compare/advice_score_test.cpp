// SPDX-License-Identifier: Apache-2.0
// What a report's advice promised, held against what the next report measured.
#include "tools/compare/advice_score.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/tools/made_report.h"

namespace gable::tests {
namespace {

// Three products that compute for 100, 200 and 300 ns at the FP32 roof; TF32 is four times as fast.
Report report_of(const std::map<std::string, double>& times, double idle_ns = 0) {
  MadeReport made;
  made.report.ceilings.push_back({0, CeilingKind::compute, "tf32_tensor", 4e12, "theoretical"});
  made.report.step.idle_ns = idle_ns;
  double wall = idle_ns;
  for (const auto& [name, time] : times) wall += time;
  made.report.step.wall_mean_ns = wall;
  made.add_layer({"net"});
  double work = 100000;
  for (const auto& [name, time] : times) {
    made.add_kernel(made.add_layer({"net", name}), "sgemm", time, work, 100);
    work += 100000;
  }
  return made.done();
}

const Report& before() {
  static const Report report = report_of({{"a", 100}, {"b", 200}, {"c", 300}});
  return report;
}

std::vector<std::string> lines(const Report& a, const Report& b) {
  std::vector<std::string> out;
  for (const AdviceScore& score : score_advice(a, compare(a, b))) out.push_back(score.line());
  return out;
}

TEST(AdviceScore, PredictedMeasuredAndWhatDidNotFollow) {
  // 75, 150 and 225 ns could be saved.
  const Report after = report_of({{"a", 100}, {"b", 60}, {"c", 90}});
  EXPECT_EQ(lines(before(), after),
            std::vector<std::string>{"tensor cores: predicted up to 450 ns, measured 350 ns; "
                                     "1 layer did not follow: net/a."});
  EXPECT_EQ(lines(before(), report_of({{"a", 25}, {"b", 60}, {"c", 90}})),
            std::vector<std::string>{"tensor cores: predicted up to 450 ns, measured 425 ns."});
  // A quarter of its own saving is enough: 56.25 of 225.
  EXPECT_EQ(score_advice(before(), compare(before(), report_of({{"a", 25}, {"b", 60}, {"c", 243}})))
                .at(0)
                .left,
            std::vector<std::string>{});
  EXPECT_EQ(score_advice(before(), compare(before(), report_of({{"a", 25}, {"b", 60}, {"c", 244}})))
                .at(0)
                .left,
            std::vector<std::string>{"net/c"});
}

TEST(AdviceScore, ThreeLayersThatDidNotFollowAreNamed) {
  AdviceScore score;
  score.id = "more_work";
  score.predicted_ns = 2000;
  score.left = {"a", std::string(41, 'x'), "c"};
  EXPECT_TRUE(score.line().starts_with("more work: ")) << score.line();
  EXPECT_NE(score.line().find("3 layers "), std::string::npos) << score.line();
  EXPECT_TRUE(score.line().ends_with(", c.")) << score.line();
  EXPECT_EQ(score.line().find(std::string(41, 'x')), std::string::npos);
  score.left[1].pop_back();
  EXPECT_NE(score.line().find(": a, " + score.left[1] + ", c"), std::string::npos) << score.line();
  score.left.emplace_back("d");
  EXPECT_TRUE(score.line().ends_with(", c and 1 more.")) << score.line();
}

TEST(AdviceScore, WithinTheNoiseNothingFollowed) {
  Report a = before(), b = report_of({{"a", 100}, {"b", 60}, {"c", 90}});
  for (Report* each : {&a, &b}) {
    each->kernels[1].time_stddev_ns = 1000;
    each->kernels[1].samples_time = 4;
  }
  const auto scores = score_advice(a, compare(a, b));
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_NEAR(scores[0].measured_ns, 210, 1e-9);  // of c alone
  EXPECT_EQ(scores[0].left, (std::vector<std::string>{"net/b", "net/a"}));
  for (Report* each : {&a, &b})
    each->layers[3].direction = each->kernels[1].direction = Direction::backward;
  EXPECT_EQ(score_advice(a, compare(a, b)).at(0).left.at(0), "net/b (backward)");
}

// Two layers with a product at the FP32 roof and two kernels that move bytes at half their roof:
// the product could use tensor cores, the others could be fused, or use bytes better. A third layer
// has no product.
Report mixed(double product, double mover, double other, const Maybe& wall = std::nullopt) {
  MadeReport made;
  made.report.ceilings.push_back({0, CeilingKind::compute, "tf32_tensor", 4e12, "theoretical"});
  made.report.step.wall_mean_ns = wall.value_or(2 * product + 4 * mover + 2 * other);
  made.report.step.idle_ns = 0;
  made.add_layer({"net"});
  for (const char* name : {"a", "b", "c"}) {
    const std::int64_t layer = made.add_layer({"net", name});
    const bool with_product = std::string(name) != "c";
    if (with_product) made.add_kernel(layer, "sgemm", product, 100000, 100);
    made.add_kernel(layer, "first", with_product ? mover : other, 10, 2000);
    made.add_kernel(layer, "second", with_product ? mover : other, 10, 2000);
  }
  return made.done();
}

std::map<std::string, AdviceScore> scores_of(const Report& a, const Report& b) {
  std::map<std::string, AdviceScore> out;
  for (const AdviceScore& score : score_advice(a, compare(a, b))) out[score.id] = score;
  return out;
}

TEST(AdviceScore, AGainCountsOnceForWhoeverPromisedMost) {
  // In a and b 75 ns each by tensor cores, 40 by fusion or better use of bytes; in c 40 alone.
  const Report before = mixed(100, 40, 40);
  auto scores = scores_of(before, mixed(25, 20, 20));
  // a and b got 75 + 40 ns shorter each, c 40: 270 ns of a step. Fusion and better use promise the
  // same, and the first of them has what c gained.
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_NEAR(scores["tensor_cores"].predicted_ns, 150, 1e-9);
  EXPECT_NEAR(scores["tensor_cores"].measured_ns, 230, 1e-9);
  EXPECT_NEAR(scores["fuse"].predicted_ns, 120, 1e-9);
  EXPECT_NEAR(scores["fuse"].measured_ns, 40, 1e-9);
  EXPECT_NEAR(scores["fuse"].shorter_ns, 270, 1e-9);
  EXPECT_EQ(scores["fuse"].others, std::vector<std::string>{"tensor_cores"});
  EXPECT_EQ(
      scores["fuse"].line(),
      "fuse: predicted up to 120 ns, measured 40.0 ns; another 230 ns of its layers count for "
      "tensor cores.");
  EXPECT_EQ(scores["tensor_cores"].line(),
            "tensor cores: predicted up to 150 ns, measured 230 ns, more than promised: another "
            "change helped, or the new kernels come closer to their roofs.");
}

TEST(AdviceScore, WhatIsLeftOfASharedGainMustBeATenthOfThePromise) {
  const Report before = mixed(100, 40, 40);
  // Of 120 ns, what c gained: 12, then 11.
  EXPECT_EQ(scores_of(before, mixed(25, 20, 34)).size(), 2u);
  auto scores = scores_of(before, mixed(25, 20, 34.5));
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_NEAR(scores["tensor_cores"].measured_ns, 230, 1e-9);
  EXPECT_TRUE(scores["tensor_cores"].others.empty());
}

TEST(AdviceScore, AllTogetherAreAtMostWhatTheStepGained) {
  const Report a = mixed(100, 40, 40);
  for (const double gained : {230.0, 229.0, 115.0, 10.0, 0.0, -20.0}) {
    const Report b = mixed(25, 20, 40, 440 - gained);
    double sum = 0;
    for (const auto& [id, score] : scores_of(a, b)) sum += score.measured_ns;
    EXPECT_NEAR(sum, std::max(0.0, gained), 1e-6) << gained;
  }
  EXPECT_EQ(scores_of(a, mixed(25, 20, 40, 325))["tensor_cores"].line(),
            "tensor cores: predicted up to 150 ns, measured 115 ns; its layers got shorter by 230 "
            "ns, but the step gained less.");
  EXPECT_EQ(scores_of(a, mixed(25, 20, 40, 460))["tensor_cores"].line(),
            "tensor cores: predicted up to 150 ns, measured 0 ns; its layers got shorter by 230 "
            "ns, but the step did not.");
  // Idle time that came back takes from all: 350 ns of kernels and 300 of idle time, in 400.
  Report before = report_of({{"a", 100}, {"b", 200}, {"c", 300}}, 400);
  Report after = report_of({{"a", 100}, {"b", 60}, {"c", 90}}, 100);
  after.step.wall_mean_ns = 600;
  auto scores = scores_of(before, after);
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_NEAR(scores["idle"].measured_ns, 400.0 * 300 / 650, 1e-9);
  EXPECT_NEAR(scores["tensor_cores"].measured_ns, 400.0 * 350 / 650, 1e-9);
  // Nothing is cut where nobody knows what the step gained.
  after.step.wall_mean_ns.reset();
  EXPECT_NEAR(scores_of(before, after)["tensor_cores"].measured_ns, 350, 1e-9);
}

TEST(AdviceScore, AdviceThatNobodyTookIsNotMentioned) {
  EXPECT_TRUE(lines(before(), before()).empty());
  EXPECT_TRUE(lines(before(), report_of({{"a", 100}, {"b", 200}, {"c", 260}})).empty());
  EXPECT_TRUE(
      lines(before(), report_of({{"a", 60}, {"b", 200}, {"c", 300}})).empty());  // 40 of 450
}

TEST(AdviceScore, OtherWorkSaysNothingOfAdvice) {
  Report after = report_of({{"a", 25}, {"b", 60}, {"c", 90}});
  for (KernelRow& kernel : after.kernels) kernel.flops.fp32 = *kernel.flops.total /= 2;
  for (LayerRow& layer : after.layers) {
    if (layer.flops.total) *layer.flops.total /= 2;
  }
  EXPECT_TRUE(lines(before(), after).empty());
}

TEST(AdviceScore, WaitsWereTakenIfTheHostLaunchesSoonerAfterThem) {
  Report before = report_of({{"a", 100}, {"b", 200}, {"c", 300}}, 400);
  before.step.critical_path.emplace().waits_ns = 400;
  before.step.critical_path->host_ns = 400;
  before.step.exposed.emplace().without.waits = StepSaving{400, 400};
  Report after = report_of({{"a", 100}, {"b", 200}, {"c", 300}}, 100);
  after.step.critical_path.emplace().waits_ns = 300;
  EXPECT_EQ(lines(before, after),
            std::vector<std::string>{"waits: predicted up to 400 ns, measured 300 ns."});
  after.step.critical_path->waits_ns = 301;
  EXPECT_TRUE(lines(before, after).empty());
  after.step.critical_path.reset();
  EXPECT_TRUE(lines(before, after).empty());
}

TEST(AdviceScore, IdleTimeIsTheStepsOwn) {
  const Report idle = report_of({{"a", 100}, {"b", 200}, {"c", 300}}, 400);
  EXPECT_EQ(lines(idle, report_of({{"a", 100}, {"b", 200}, {"c", 300}}, 100)),
            std::vector<std::string>{"idle: predicted up to 400 ns, measured 300 ns."});
}

}  // namespace
}  // namespace gable::tests

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
  made.report.step.wall_mean_ns = 1000;
  made.report.step.idle_ns = idle_ns;
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
  AdviceScore score{"more_work", 2000, 1000, {"a", std::string(41, 'x'), "c"}};
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

TEST(AdviceScore, IdleTimeIsTheStepsOwn) {
  const Report idle = report_of({{"a", 100}, {"b", 200}, {"c", 300}}, 400);
  EXPECT_EQ(lines(idle, report_of({{"a", 100}, {"b", 200}, {"c", 300}}, 100)),
            std::vector<std::string>{"idle: predicted up to 400 ns, measured 300 ns."});
}

}  // namespace
}  // namespace gable::tests

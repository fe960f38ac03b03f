// SPDX-License-Identifier: Apache-2.0
// Several runs of a side: their means, how far they differ among themselves, and whether they did
// the same work.
#include "tools/compare/compare_runs.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/made_report.h"
#include "tools/compare/compare_work.h"
#include "tools/compare/gate.h"

namespace gable::tests {
namespace {

Report run_of(double conv_ns, double step_ns, double flop = 25000, double launches = 2) {
  MadeReport made;
  made.add_layer({"net"});
  const auto conv = made.add_layer({"net", "conv"}, Direction::forward);
  made.add_kernel(conv, "gemm", conv_ns, flop, 500, launches);
  made.report.step.wall_mean_ns = step_ns;
  made.report.step.idle_ns = step_ns / 10;
  return made.done();
}

SideRuns side(const std::vector<Report>& runs, const std::string& name) {
  SideRuns out;
  for (const Report& run : runs) {
    out.reports.push_back(&run);
    out.names.push_back(name + std::to_string(out.names.size() + 1));
  }
  return out;
}

const ComparedRow& conv_of(const Comparison& comparison) {
  for (const ComparedRow& row : comparison.layers) {
    if (row.name == "net/conv") return row;
  }
  ADD_FAILURE();
  return comparison.layers.front();
}

TEST(CompareRuns, MeansOfEachSideAndTheirRange) {
  const std::vector<Report> before = {run_of(50, 1000), run_of(56, 1020)};
  const std::vector<Report> after = {run_of(60, 1100), run_of(61, 1110), run_of(62, 1120)};
  const Comparison all = compare_runs(side(before, "old"), side(after, "new"));
  EXPECT_TRUE(all.obstacles.empty());
  EXPECT_EQ(conv_of(all).time_ns.a, 106.0);
  EXPECT_EQ(conv_of(all).time_ns.b, 122.0);
  EXPECT_EQ(conv_of(all).range.time_ns, 12.0);  // of the baseline, which is the larger
  EXPECT_EQ(conv_of(all).range.flops, 0.0);
  EXPECT_EQ(all.wholes[0].time_ns.a, 106.0);
  EXPECT_EQ(all.step.wall_ns.a, 1010.0);
  EXPECT_EQ(all.step.wall_ns.b, 1110.0);
  EXPECT_EQ(all.step.wall_range, 20.0);
  EXPECT_TRUE(conv_of(all).beyond_noise());
  EXPECT_TRUE(all.kernels.empty());
}

TEST(CompareRuns, ADifferenceThatRunsOfOneSideHaveTooIsNoRegression) {
  const std::vector<Report> before = {run_of(50, 1000), run_of(58, 1100)};
  const std::vector<Report> after = {run_of(58, 1080)};
  const auto result = gate(compare_runs(side(before, "old"), side(after, "new")), {});
  EXPECT_EQ(result.count(GateVerdict::worse), 0u);
  EXPECT_EQ(result.count(GateVerdict::unclear), 2u);  // the layer and the whole, 7.4 %
  EXPECT_TRUE(result.findings[0].line(5).ends_with(
      "+7.41 % (gate 5 %, noise unknown, runs of one side differ by 16.0 ns)"))
      << result.findings[0].line(5);
  // One run of each side does not know that.
  const auto one = gate(compare(before[0], after[0]), {});
  EXPECT_GT(one.count(GateVerdict::worse), 0u);
}

TEST(CompareRuns, ClocksAgreeWhereThoseOfAllRunsDo) {
  const auto at = [](double hz) {
    Report report = run_of(50, 1000);
    report.devices[0].state.emplace().sm_clock.mean = hz;
    return report;
  };
  const std::vector<Report> steady = {at(1e9), at(1.01e9)}, jumping = {at(1e9), at(1.5e9)};
  const std::vector<Report> one = {at(1e9)};
  EXPECT_TRUE(compare_runs(side(steady, "old"), side(one, "new")).clocks_agree);
  EXPECT_FALSE(compare_runs(side(jumping, "old"), side(one, "new")).clocks_agree);
  EXPECT_FALSE(compare_runs(side(one, "old"), side(jumping, "new")).clocks_agree);
}

TEST(CompareRuns, OneRunOfEachIsThePlainComparison) {
  const std::vector<Report> before = {run_of(50, 1000)}, after = {run_of(60, 1100)};
  const Comparison all = compare_runs(side(before, "old"), side(after, "new"));
  EXPECT_EQ(conv_of(all).time_ns.b, 120.0);
  EXPECT_FALSE(conv_of(all).range.time_ns || all.step.wall_range);
  EXPECT_EQ(all.kernels.size(), 1u);
}

TEST(CompareRuns, ARunOfOtherWorkIsNamed) {
  const std::vector<Report> before = {run_of(50, 1000), run_of(50, 1000, 50000)};
  const std::vector<Report> after = {run_of(50, 1000)};
  EXPECT_EQ(compare_runs(side(before, "old"), side(after, "new")).other_work,
            "old2 does 100 kFLOP per step, old1 50.0 kFLOP (-50.0 %)");
}

TEST(WorkOf, CountedFlopsThenFormulasThenLaunches) {
  const Report a = run_of(50, 1000);
  const auto said = [&](const Report& b) {
    return other_work(work_done(a), work_done(b), "A", "B", Unit::step);
  };
  EXPECT_EQ(said(a), "");
  EXPECT_EQ(said(run_of(50, 1000, 25400)), "");  // 1.6 %
  EXPECT_EQ(said(run_of(50, 1000, 25600)), "A does 50.0 kFLOP per step, B 51.2 kFLOP (+2.40 %)");
  // Fused: the same work in other launches.
  EXPECT_EQ(said(run_of(50, 1000, 50000, 1)), "");
  Report formula = a, other = a;
  for (Report* report : {&formula, &other}) {
    for (LayerRow& layer : report->layers) layer.flops.total.reset();
  }
  other.layers[0].launches = 3;
  EXPECT_EQ(other_work(work_done(formula), work_done(other), "A", "B", Unit::run),
            "A does 2 launches per run, B 3 launches (+50.0 %)");
  formula.layers[2].model.emplace().self.flops = 1000;
  other.layers[2].model.emplace().self.flops = 500;
  EXPECT_EQ(other_work(work_done(formula), work_done(other), "A", "B", Unit::step),
            "A does 1.00 kFLOP per step, B 500 FLOP (by formula) (-50.0 %)");
  // The same operators in another precision: tensor cores count what fills up their tiles.
  Report more = run_of(50, 1000, 30000), operators = a;
  for (Report* report : {&more, &operators}) report->layers[2].model.emplace().self.flops = 1000;
  EXPECT_EQ(other_work(work_done(operators), work_done(more), "A", "B", Unit::step), "");
  more.layers[2].model->self.flops = 2000;
  EXPECT_EQ(other_work(work_done(operators), work_done(more), "A", "B", Unit::step),
            "A does 50.0 kFLOP per step, B 60.0 kFLOP (+20.0 %)");
  EXPECT_EQ(said(Report()), "");  // nothing is known
}

}  // namespace
}  // namespace gable::tests

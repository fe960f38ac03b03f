// SPDX-License-Identifier: Apache-2.0
// Two reports side by side: which rows belong together, what changed, and what is noise.
#include "tools/compare/compare.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/tools/made_report.h"

namespace gable::tests {
namespace {

const ComparedRow& row_named(const std::vector<ComparedRow>& rows, const std::string& name) {
  for (const ComparedRow& row : rows) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  static const ComparedRow none;
  return none;
}

Report report_of(double conv_ns, const char* second, double second_ns) {
  MadeReport made;
  made.add_layer({"net"});
  const auto conv = made.add_layer({"net", "conv"}, Direction::forward);
  const auto other = made.add_layer({"net", second});
  KernelRow& gemm = made.add_kernel(conv, "gemm", conv_ns, 25000, 500, 2);
  gemm.time_stddev_ns = 4;
  gemm.samples_time = 16;
  KernelRow& max = made.add_kernel(other, "max", second_ns, 100, 3000);
  max.time_stddev_ns = 3;
  max.samples_time = 9;
  KernelRow& graph = made.add_kernel(1, "(graph of 2 kernels)", 160, 0, 0);
  graph.graph = 1;
  graph.nodes = 2;
  made.report.step.wall_mean_ns = conv_ns * 10;
  made.report.step.wall_stddev_ns = 8;
  made.report.run.steps.time = 4;
  return made.done();
}

TEST(CompareOf, RowsWithBothNumbers) {
  const Report a = report_of(50, "relu", 60), b = report_of(75, "relu", 30);
  const Comparison all = compare(a, b);
  EXPECT_TRUE(all.obstacles.empty());
  ASSERT_EQ(all.wholes.size(), 1u);
  EXPECT_EQ(all.wholes[0].time_ns.a, 160.0);
  EXPECT_EQ(all.wholes[0].time_ns.b, 180.0);
  EXPECT_DOUBLE_EQ(*all.wholes[0].time_ns.change(), 0.125);
  EXPECT_EQ(all.trees.size(), 4u);
  const ComparedRow& conv = row_named(all.layers, "net/conv");
  EXPECT_EQ(conv.match, Match::same);
  EXPECT_EQ(conv.direction, Direction::forward);
  EXPECT_EQ(conv.time_ns.a, 100.0);
  EXPECT_EQ(conv.time_ns.b, 150.0);
  EXPECT_EQ(conv.flops.a, 50000.0);
  EXPECT_EQ(conv.dram.b, 1000.0);
  EXPECT_DOUBLE_EQ(*conv.fraction.a, 0.5);
  EXPECT_DOUBLE_EQ(*conv.saving_ns.b, 100);
  EXPECT_EQ(conv.launches.a, 2.0);
  EXPECT_DOUBLE_EQ(*conv.share, 100.0 / 160);
  EXPECT_EQ(conv.layer_row, &b.layers[2]);
  EXPECT_EQ(all.step.wall_ns.a, 500.0);
  EXPECT_EQ(all.step.wall_ns.b, 750.0);
}

TEST(CompareOf, NoiseIsTwiceTheStandardErrorsOfBoth) {
  const Report a = report_of(50, "relu", 60), b = report_of(75, "relu", 30);
  const Comparison all = compare(a, b);
  // conv: 2 launches x 4 / sqrt(16) = 2 in each; relu: 3 / sqrt(9) = 1. Those of a whole add up.
  const ComparedRow& conv = row_named(all.layers, "net/conv");
  EXPECT_DOUBLE_EQ(*conv.noise_ns, 2 * std::sqrt(8.0));
  EXPECT_DOUBLE_EQ(*row_named(all.layers, "net/relu").noise_ns, 2 * std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(*all.wholes[0].noise_ns, 2 * std::sqrt(18.0));
  EXPECT_DOUBLE_EQ(*row_named(all.kernels, "gemm").noise_ns, 2 * std::sqrt(8.0));
  EXPECT_DOUBLE_EQ(*all.step.noise_ns, 2 * std::sqrt(32.0));  // 8 / sqrt(4) in each
  EXPECT_TRUE(conv.beyond_noise());
  Report once = b;
  once.kernels[0].samples_time = 1;
  const Comparison unsure = compare(a, once);
  EXPECT_FALSE(row_named(unsure.layers, "net/conv").noise_ns);
  EXPECT_FALSE(unsure.wholes[0].noise_ns);
  EXPECT_TRUE(row_named(unsure.layers, "net/relu").noise_ns);
  EXPECT_TRUE(unsure.wholes[0].beyond_noise());
  once.run.steps.time = 1;
  EXPECT_FALSE(compare(a, once).step.noise_ns);
}

TEST(CompareOf, AChangeWithinTheNoiseIsNone) {
  ComparedRow row;
  row.time_ns = {100, 110};
  row.noise_ns = 10;
  EXPECT_FALSE(row.beyond_noise());
  row.time_ns = {110, 99.9};
  EXPECT_TRUE(row.beyond_noise());
  EXPECT_FALSE((Compared{0, 5}).change());
  EXPECT_DOUBLE_EQ(*(Compared{4, 5}).change(), 0.25);
}

TEST(CompareOf, LaunchesAndTheTimeOfALaunchAreToldApart) {
  ComparedRow row;
  row.time_ns = {1000, 937.3};
  row.launches = {100, 91};
  EXPECT_DOUBLE_EQ(*row.per_launch_ns().a, 10);
  EXPECT_NEAR(*row.per_launch_ns().change(), 0.03, 1e-9);
  EXPECT_TRUE(row.launches_differ());
  row.noise_ns = 27.2;  // 91 launches of 0.3 ns are 27.3
  EXPECT_TRUE(row.launch_beyond_noise());
  row.noise_ns = 27.4;
  EXPECT_FALSE(row.launch_beyond_noise());
  row.launches = {100, 100.4};
  EXPECT_FALSE(row.launches_differ());
  row.launches = {100, 0};
  EXPECT_FALSE(row.per_launch_ns().b);
}

TEST(CompareOf, NoDifference) {
  const Report a = report_of(50, "relu", 60);
  const auto none = [&](const Report& b) {
    const Comparison all = compare(a, b);
    std::vector<const ComparedRow*> rows;
    for (const ComparedRow& row : all.layers) rows.push_back(&row);
    return no_difference(all, rows);
  };
  EXPECT_TRUE(none(a));
  EXPECT_TRUE(none(report_of(50.5, "relu", 60)));  // 1 of 5.7 ns of noise, 5 of 11 of the step
  EXPECT_FALSE(none(report_of(50, "relu", 30)));
  EXPECT_FALSE(none(report_of(50, "activation", 60)));  // renamed
  Report b = a;
  b.step.wall_mean_ns = 600;
  EXPECT_FALSE(none(b));
  b = a;
  b.layers[2].bytes.dram = 2000;
  b.kernels[0].bytes.dram = 1000;
  EXPECT_FALSE(none(b));
}

TEST(CompareOf, AGraphsTimeIsThatOfOthersAndHasNoShare) {
  const Report a = report_of(50, "relu", 60), b = report_of(75, "relu", 30);
  const Comparison all = compare(a, b);
  for (const auto* rows : {&all.layers, &all.kernels}) {
    std::size_t again = 0;
    for (const ComparedRow& row : *rows) {
      if (row.name.find("(graph") == std::string::npos) {
        EXPECT_FALSE(row.counts_again) << row.name;
        EXPECT_TRUE(row.share) << row.name;
      } else {
        ++again;
        EXPECT_TRUE(row.counts_again);
        EXPECT_FALSE(row.share);
      }
    }
    EXPECT_EQ(again, 1u);
  }
}

TEST(CompareOf, LayersWithTheSameKernelsWereRenamed) {
  const Report a = report_of(50, "relu", 60), b = report_of(75, "activation", 30);
  const Comparison all = compare(a, b);
  const ComparedRow& row = row_named(all.layers, "net/activation");
  EXPECT_EQ(row.match, Match::renamed);
  EXPECT_EQ(row.before, "net/relu");
  EXPECT_EQ(row.time_ns.a, 60.0);
  EXPECT_EQ(row.time_ns.b, 30.0);
  EXPECT_EQ(match_name(row.match), "renamed");
}

TEST(CompareOf, WhatOneReportAloneHasIsNewOrGone) {
  const Report a = report_of(50, "relu", 60);
  Report b = report_of(75, "norm", 30);
  b.kernels[1].name = "sum";
  const Comparison all = compare(a, b);
  EXPECT_EQ(row_named(all.layers, "net/norm").match, Match::added);
  EXPECT_FALSE(row_named(all.layers, "net/norm").time_ns.a);
  EXPECT_DOUBLE_EQ(*row_named(all.layers, "net/norm").share, 30.0 / 180);  // of B's time
  EXPECT_EQ(row_named(all.layers, "net/relu").match, Match::gone);
  EXPECT_DOUBLE_EQ(*row_named(all.layers, "net/relu").share, 60.0 / 160);
  EXPECT_EQ(row_named(all.kernels, "sum").match, Match::added);
  EXPECT_EQ(row_named(all.kernels, "max").match, Match::gone);
  Report other_grid = report_of(75, "relu", 30);
  other_grid.kernels[0].grid = {4, 1, 1};
  const Comparison reshaped = compare(a, other_grid);
  EXPECT_EQ(row_named(reshaped.kernels, "gemm").match, Match::reshaped);
  EXPECT_EQ(row_named(reshaped.kernels, "gemm").before, "grid 1x1x1, block 1x1x1");
}

TEST(CompareOf, WhatMayNotBeHeldAgainstEachOtherIsSaid) {
  const Report a = report_of(50, "relu", 60);
  Report b = a;
  b.run.source = Source::cupti;
  b.run.unit = Unit::run;
  b.devices[0].sm_count = 50;
  EXPECT_EQ(compare(a, b).obstacles,
            (std::vector<std::string>{
                "One report is from playback and the other from hardware: A is from playback.",
                "Numbers of A are per step, those of B per run.",
                "A ran on GPU (100 SMs), B on GPU (50 SMs)."}));
  b = a;
  b.devices[0].sm_clock_max_hz += 1;
  b.run.complete = false;
  b.run.lost.records = 1;
  EXPECT_TRUE(compare(a, b).obstacles.empty());
  EXPECT_EQ(compare(a, b).remarks,
            (std::vector<std::string>{"The clocks of device 0 differ.",
                                      "B is a snapshot of a program that was still running.",
                                      "B lost records: its sums may be too small."}));
}

TEST(CompareOf, AMeasuredClockThatDiffersByMoreThanTwoInAHundredIsSaid) {
  Report a = report_of(50, "relu", 60);
  a.sm_clock_measured_hz[0] = 1e9;
  for (const auto& [clock, said] :
       {std::pair{1.019e9, false}, {1.021e9, true}, {0.981e9, false}, {0.979e9, true}}) {
    Report b = a;
    b.sm_clock_measured_hz[0] = clock;
    EXPECT_EQ(compare(a, b).remarks.size(), said ? 1u : 0u) << clock;
  }
}

// A loop may run far ahead of the GPU: the host's time of one report is no time of the other.
TEST(CompareOf, AStepOnTheGpuIsNeverHeldAgainstOneOnTheHost) {
  Report gpu = report_of(50, "relu", 60), host = gpu;
  gpu.step.host_mean_ns = 100;
  host.step.host_mean_ns = 200;
  host.step.wall_mean_ns = host.step.wall_stddev_ns = std::nullopt;  // as of schema 1
  const Comparison from_host = compare(host, gpu);
  EXPECT_TRUE(from_host.step.on_host);
  EXPECT_EQ(from_host.step.wall_ns.a, 200.0);
  EXPECT_EQ(from_host.step.wall_ns.b, 100.0);
  EXPECT_EQ(from_host.remarks.back(),
            "A does not know how long a step takes on the GPU: steps are compared by the host's "
            "time, which may be far less.");
  const Comparison to_host = compare(gpu, host);
  EXPECT_TRUE(to_host.step.on_host);
  EXPECT_EQ(to_host.step.wall_ns.a, 100.0);
  EXPECT_TRUE(to_host.step.gpu_ns.a && !to_host.step.gpu_ns.b);  // which is lost
  EXPECT_FALSE(compare(gpu, gpu).step.on_host);
}

// A step of 90 us and one of 210 in turn are no noise, and neither are ranks that differ.
TEST(CompareOf, WhatSeparatesKindsOfStepsIsNoNoise) {
  const Report a = report_of(50, "relu", 60);
  EXPECT_TRUE(compare(a, a).step.noise_ns.has_value());
  Report kinds = a;
  kinds.run.steps.classes = 2;
  EXPECT_FALSE(compare(kinds, kinds).step.noise_ns.has_value());
  Report ranks = a;
  ranks.run.processes.resize(2);
  EXPECT_FALSE(compare(ranks, ranks).step.noise_ns.has_value());
}

}  // namespace
}  // namespace gable::tests

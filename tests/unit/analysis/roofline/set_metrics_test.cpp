// SPDX-License-Identifier: Apache-2.0
// What --metrics mix, warps and cache tell, from counters of the same launches, and summed over
// kernels as ratios of sums. All numbers are made up, and the answers worked out by hand.
#include "analysis/roofline/set_metrics.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

constexpr const char *kWarps = "smsp__sass_inst_executed.sum",
                     *kThreads = "smsp__sass_thread_inst_executed.sum",
                     *kThreadsOn = "smsp__sass_thread_inst_executed_pred_on.sum",
                     *kOccupancy = "sm__warps_active.avg.pct_of_peak_sustained_active",
                     *kTargets = "smsp__sass_branch_targets.sum",
                     *kDivergent = "smsp__sass_branch_targets_threads_divergent.sum",
                     *kUniform = "smsp__sass_average_branch_targets_threads_uniform.pct",
                     *kL1Hits = "l1tex__t_sectors_lookup_hit.sum", *kL1 = "l1tex__t_sectors.sum",
                     *kL1Rate = "l1tex__t_sector_hit_rate.pct",
                     *kL2Hits = "lts__t_sectors_lookup_hit.sum", *kL2 = "lts__t_sectors.sum",
                     *kL2Rate = "lts__t_sector_hit_rate.pct",
                     *kLoads = "smsp__sass_inst_executed_op_global_ld.sum",
                     *kLoaded = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
                     *kStores = "smsp__sass_inst_executed_op_global_st.sum",
                     *kStored = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum",
                     *kL2Sectors = "lts__t_sectors_srcunit_tex.sum",
                     *kL2Requests = "lts__t_requests_srcunit_tex.sum",
                     *kInteger = "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
                     *kLocal = "smsp__sass_inst_executed_op_local.sum";

// Of one phase, one launch each.
CountedTogether counted(const std::map<std::string, double>& values) {
  CountedTogether phase;
  for (const auto& [metric, value] : values) phase[metric] = {value, 1};
  return phase;
}

SetMetrics of(const std::vector<CountedTogether>& phases, bool same_work = true) {
  return set_metrics_of(phases, same_work).value_or(SetMetrics());
}

TEST(SetMetrics, EachFollowsFromItsCounters) {
  const SetMetrics metrics = of(
      {counted(
           {{kOccupancy, 37.5}, {kL1Hits, 30}, {kL1, 120}, {kL2Sectors, 700}, {kL2Requests, 200}}),
       counted({{kWarps, 100},
                {kThreads, 2400},
                {kThreadsOn, 1600},
                {kTargets, 50},
                {kDivergent, 10},
                {kLoads, 5},
                {kLoaded, 60},
                {kStores, 4},
                {kStored, 16},
                {kInteger, 400},
                {kLocal, 3}})});
  EXPECT_EQ(metrics.occupancy, 0.375);
  EXPECT_EQ(metrics.warp_efficiency, 0.75);
  EXPECT_EQ(metrics.warp_efficiency_predicated, 0.5);
  EXPECT_EQ(metrics.branch_uniformity, 0.8);
  EXPECT_EQ(metrics.l1_hit_rate, 0.25);
  EXPECT_EQ(metrics.l2_hit_rate, std::nullopt);
  EXPECT_EQ(metrics.sectors_per_load, 12);
  EXPECT_EQ(metrics.sectors_per_store, 4);
  EXPECT_EQ(metrics.l2_sectors_per_request, 3.5);
  EXPECT_EQ(metrics.mix, (std::map<std::string, Maybe>{{"integer", 0.25}}));
  EXPECT_EQ(metrics.memory_mix, (std::map<std::string, Maybe>{{"local", 0.03}}));
}

TEST(SetMetrics, WhatWasNotCountedIsUnknownAndNot0) {
  EXPECT_FALSE(set_metrics_of({}, true));
  EXPECT_FALSE(set_metrics_of({counted({{"dram__sectors_read.sum", 4}, {kL2Sectors, 4}})}, true));
  CountedTogether phase = counted({{kThreads, 64}, {kLoads, 4}});
  phase[kWarps] = {0, 0};  // asked for, and no value
  EXPECT_FALSE(set_metrics_of({phase}, true));
}

TEST(SetMetrics, OfNothingThereIsNoShare) {
  const SetMetrics metrics = of({counted({{kTargets, 0},
                                          {kDivergent, 0},
                                          {kUniform, 0},
                                          {kLoads, 0},
                                          {kLoaded, 0},
                                          {kOccupancy, 0}})});
  EXPECT_EQ(metrics.branch_uniformity, std::nullopt);
  EXPECT_EQ(metrics.sectors_per_load, std::nullopt);
  EXPECT_EQ(metrics.occupancy, 0);
}

TEST(SetMetrics, PartsOfOtherWindowsAreNotDivided) {
  // Sectors are counted in two passes and requests in one of them.
  CountedTogether both = counted({{kL2Sectors, 100}, {kL2Requests, 50}});
  EXPECT_EQ(of({both, counted({{kL2Sectors, 700}})}).l2_sectors_per_request, 2);
  EXPECT_EQ(of({counted({{kL2Requests, 50}}), counted({{kL2Sectors, 700}})}).l2_sectors_per_request,
            std::nullopt);
  // A launch of which one of them has no value.
  both[kL2Sectors].launches = 2;
  EXPECT_EQ(of({both}).l2_sectors_per_request, std::nullopt);
  // Two passes that count both.
  both = counted({{kL2Sectors, 100}, {kL2Requests, 50}});
  EXPECT_EQ(of({both, counted({{kL2Sectors, 200}, {kL2Requests, 25}})}).l2_sectors_per_request, 4);
}

TEST(SetMetrics, HitsOfL2AreDividedAcrossWindowsOfTheSameWork) {
  CountedTogether hits, sectors;
  hits[kL2Hits] = {90, 3};
  sectors[kL2] = {80, 2};
  EXPECT_EQ(of({hits, sectors}).l2_hit_rate, 0.75);
  EXPECT_EQ(of({hits, sectors}, false).l2_hit_rate, std::nullopt);
  hits[kL2Hits].sum = 121.2;  // executions differ a little
  EXPECT_DOUBLE_EQ(*of({hits, sectors}).l2_hit_rate, 1.01);
  hits[kL2Hits].sum = 130;  // the windows saw other work
  EXPECT_EQ(of({hits, sectors}).l2_hit_rate, std::nullopt);
}

TEST(SetMetrics, WhatNcuPrintsStandsInForParts) {
  const std::map<std::string, double> printed = {
      {kL1Rate, 40},
      {kL2Rate, 60},
      {kUniform, 90},
      {"smsp__thread_inst_executed_per_inst_executed.ratio", 24},
      {"smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", 16},
      {"l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 8},
      {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 60},
      {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", 10}};
  const SetMetrics metrics = of({counted(printed)});
  EXPECT_EQ(metrics.l1_hit_rate, 0.4);
  EXPECT_EQ(metrics.l2_hit_rate, 0.6);
  EXPECT_EQ(metrics.branch_uniformity, 0.9);
  EXPECT_EQ(metrics.warp_efficiency, 0.75);
  EXPECT_EQ(metrics.warp_efficiency_predicated, 0.5);
  EXPECT_EQ(metrics.sectors_per_load, 8);
  EXPECT_EQ(metrics.sectors_per_store, 6);
  auto parts = printed;
  parts[kL1Hits] = 30;
  parts[kL1] = 100;
  EXPECT_EQ(of({counted(parts)}).l1_hit_rate, 0.3);
}

TEST(SetMetrics, AShareAbove1IsUnknown) {
  EXPECT_FALSE(set_metrics_of({counted({{kOccupancy, 130}, {kWarps, 1}, {kThreads, 33}})}, true));
  EXPECT_EQ(of({counted({{kLoads, 1}, {kLoaded, 32}})}).sectors_per_load, 32);
}

// A kernel of so many launches, each of so many ns.
KernelRow kernel(double launches, double ns, const std::map<std::string, double>& counters) {
  KernelRow row;
  row.launches = launches;
  row.time_mean_ns = ns;
  row.time_total_ns = ns * launches;
  for (const auto& [metric, value] : counters) row.counters[metric] = value;
  row.metrics = set_metrics_of({counted(counters)}, true);
  return row;
}

SetMetrics sum_of(const std::vector<KernelRow>& kernels, double least_ns = 0) {
  SetMetricsSum sum;
  for (const KernelRow& each : kernels) sum.add(each);
  return sum.of_time(least_ns).value_or(SetMetrics());
}

TEST(SetMetricsSums, AreRatiosOfSumsAndNoMeans) {
  const SetMetrics metrics = sum_of({kernel(2, 10,
                                            {{kLoads, 10},
                                             {kLoaded, 40},
                                             {kWarps, 10},
                                             {kThreads, 320},
                                             {kThreadsOn, 100},
                                             {kInteger, 100},
                                             {kLocal, 10},
                                             {kOccupancy, 90},
                                             {kL2Hits, 10},
                                             {kL2, 10}}),
                                     kernel(1, 60,
                                            {{kLoads, 60},
                                             {kLoaded, 1920},
                                             {kWarps, 60},
                                             {kThreads, 960},
                                             {kThreadsOn, 200},
                                             {kInteger, 0},
                                             {kLocal, 0},
                                             {kOccupancy, 10},
                                             {kL2Hits, 0},
                                             {kL2, 60}})});
  EXPECT_DOUBLE_EQ(*metrics.sectors_per_load, (2 * 40 + 1920) / 80.0);
  EXPECT_DOUBLE_EQ(*metrics.warp_efficiency, (2 * 320 + 960) / (32.0 * 80));
  EXPECT_DOUBLE_EQ(*metrics.warp_efficiency_predicated, (2 * 100 + 200) / (32.0 * 80));
  EXPECT_DOUBLE_EQ(*metrics.l2_hit_rate, 20 / 80.0);
  EXPECT_DOUBLE_EQ(*metrics.mix.at("integer"), 200 / 400.0);
  EXPECT_DOUBLE_EQ(*metrics.memory_mix.at("local"), 20 / 80.0);
  // By their time: 20 of 80 ns.
  EXPECT_DOUBLE_EQ(*metrics.occupancy, (20 * 0.9 + 60 * 0.1) / 80);
}

TEST(SetMetricsSums, NeedWhatIsBelowTheLine) {
  const std::vector<KernelRow> kernels = {kernel(1, 10, {{kL1Rate, 20}}),
                                          kernel(1, 10, {{kL1Rate, 60}})};
  EXPECT_EQ(sum_of(kernels).l1_hit_rate, std::nullopt);
  EXPECT_EQ(sum_of({kernels[0]}).l1_hit_rate, 0.2);
  EXPECT_EQ(sum_of({kernels[0], kernel(1, 10, {{kL1Rate, 60}, {kL1, 300}})}).l1_hit_rate,
            std::nullopt);
  EXPECT_EQ(sum_of({kernels[0], kernels[0]}).l1_hit_rate, 0.2);
  EXPECT_DOUBLE_EQ(*sum_of({kernel(1, 10, {{kL1Rate, 20}, {kL1, 100}}),
                            kernel(1, 10, {{kL1Rate, 60}, {kL1, 300}})})
                        .l1_hit_rate,
                   0.5);
}

TEST(SetMetricsSums, AreOfMostOfTheTime) {
  const KernelRow loads = kernel(1, 90, {{kLoads, 10}, {kLoaded, 40}}), unknown = kernel(1, 10, {}),
                  without = kernel(1, 10, {{kLoads, 0}, {kLoaded, 0}});
  EXPECT_EQ(sum_of({loads, unknown}, 95).sectors_per_load, std::nullopt);
  EXPECT_EQ(sum_of({loads, unknown}, 90).sectors_per_load, 4);
  EXPECT_EQ(sum_of({loads, without}, 95).sectors_per_load, 4);  // it is known to load nothing
}

TEST(SetMetricsSums, OfAllOrOfNone) {
  SetMetricsSum sum;
  sum.add(kernel(1, 90, {{kLoads, 10}, {kLoaded, 40}, {kOccupancy, 50}}));
  sum.add(kernel(1, 10, {{kOccupancy, 100}}));
  ASSERT_TRUE(sum.of_all());
  EXPECT_EQ(sum.of_all()->sectors_per_load, std::nullopt);
  EXPECT_DOUBLE_EQ(*sum.of_all()->occupancy, 0.55);
}

}  // namespace
}  // namespace gable

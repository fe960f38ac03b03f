// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/stated_peaks.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/import/counters/launches.h"

namespace gable {
namespace {

constexpr const char* kSmHz = "sm__cycles_elapsed.avg.per_second";

std::string peak(const std::string& name) { return name + ".sum.peak_sustained"; }

std::vector<Ceiling> stated(const Launches::Values& values) {
  Launches launches;
  launches.add(values);
  state_peaks(launches.imported);
  return launches.imported.stated;
}

TEST(StatedPeaks, EachRoofIsPeakPerCycleTimesTheUnitsClock) {
  struct Case {
    const char *metric, *clock, *roof;
    double flops;  // of one
    CeilingKind kind;
    SmClock sm;
  };
  for (const auto& [metric, clock, roof, times, kind, sm] : {
           Case{"smsp__sass_thread_inst_executed_op_dfma_pred_on", "sm", "fp64", 2,
                CeilingKind::compute, SmClock::measured},
           Case{"smsp__sass_thread_inst_executed_op_ffma_pred_on", "sm", "fp32", 2,
                CeilingKind::compute, SmClock::measured},
           Case{"smsp__sass_thread_inst_executed_op_hfma_pred_on", "sm", "fp16", 4,
                CeilingKind::compute, SmClock::measured},
           Case{"dram__bytes", "dram", "dram", 1, CeilingKind::memory, SmClock::none},
           Case{"derived__lts__lts2xbar_bytes", "lts", "l2", 1, CeilingKind::memory, SmClock::none},
           Case{"lts__t_bytes", "lts", "l2", 1, CeilingKind::memory, SmClock::none},
           Case{"derived__l1tex__lsu_writeback_bytes_mem_lgds", "l1tex", "l1", 1,
                CeilingKind::memory, SmClock::measured},
           Case{"derived__l1tex__lsu_writeback_bytes_mem_lg", "l1tex", "l1", 1, CeilingKind::memory,
                SmClock::measured},
           Case{"derived__l1tex__lsu_writeback_bytes", "l1tex", "l1", 1, CeilingKind::memory,
                SmClock::measured},
           Case{"l1tex__t_bytes", "l1tex", "l1", 1, CeilingKind::memory, SmClock::measured},
       }) {
    const std::string hz = std::string(clock) + "__cycles_elapsed.avg.per_second";
    const auto roofs = stated({{peak(metric), 64}, {hz, 1.5e9}});
    ASSERT_EQ(roofs.size(), 1u) << metric;
    EXPECT_EQ(roofs[0].name, roof);
    EXPECT_EQ(roofs[0].kind, kind);
    EXPECT_EQ(roofs[0].value, 64 * times * 1.5e9) << metric;
    EXPECT_EQ(roofs[0].clock, sm) << metric;
    EXPECT_EQ(roofs[0].device, 0);
    const std::string says = (times == 4   ? "256"
                              : times == 2 ? "128"
                                           : "64") +
                             std::string(kind == CeilingKind::compute ? " FLOP" : " byte") +
                             " per cycle (" + peak(metric) + ") x 1.5 GHz";
    EXPECT_NE(roofs[0].source.find(says), std::string::npos) << roofs[0].source;
    const std::string other =
        std::string(clock) == "dram" ? kSmHz : "dram__cycles_elapsed.avg.per_second";
    EXPECT_TRUE(stated({{peak(metric), 64}, {other, 1.5e9}}).empty()) << "another unit's clock";
  }
}

TEST(StatedPeaks, TheSmsPartitionsHaveItsClock) {
  const std::string ffma = peak("smsp__sass_thread_inst_executed_op_ffma_pred_on");
  const char* smsp = "smsp__cycles_elapsed.avg.per_second";
  EXPECT_EQ(stated({{ffma, 1}, {smsp, 2e9}}).at(0).value, 4e9);
  EXPECT_EQ(stated({{ffma, 1}, {smsp, 2e9}, {kSmHz, 3e9}}).at(0).value, 6e9);
  EXPECT_TRUE(stated({{peak("dram__bytes"), 1}, {smsp, 2e9}}).empty());
}

TEST(StatedPeaks, WhatIsUnknownOrZeroStatesNothing) {
  const std::string dram = peak("dram__bytes");
  const char* hz = "dram__cycles_elapsed.avg.per_second";
  for (const auto& [value, rate] : {std::pair<double, double>{0, 1e9},
                                    {NAN, 1e9},
                                    {1, 0},
                                    {1, NAN},
                                    {INFINITY, 1e9},
                                    {-1, 1e9}})
    EXPECT_TRUE(stated({{dram, value}, {hz, rate}}).empty()) << value << " " << rate;
  EXPECT_TRUE(stated({{dram, 1}}).empty());
  EXPECT_TRUE(stated({{hz, 1}}).empty());
}

TEST(StatedPeaks, OfARoofTheFirstMetricCounts) {
  const auto roofs = stated({{peak("lts__t_bytes"), 100},
                             {peak("derived__lts__lts2xbar_bytes"), 60},
                             {"lts__cycles_elapsed.avg.per_second", 1e9}});
  ASSERT_EQ(roofs.size(), 1u);
  EXPECT_EQ(roofs[0].value, 60e9);
}

TEST(StatedPeaks, TheMedianOfADevicesLaunches) {
  Launches launches;
  const auto add = [&](double value, double hz, std::int32_t device) {
    launches.add({{peak("dram__bytes"), value}, {"dram__cycles_elapsed.avg.per_second", hz}},
                 device);
  };
  for (const double value : {9, 1, 5}) add(value, 1e9, 0);
  for (const double value : {8, 2}) add(value, 1e9, 3);
  add(7, 1e9, 1);
  launches.imported.stated = {{1, CeilingKind::memory, "dram", 5, "before"},
                              {0, CeilingKind::memory, "l2", 5, "before"}};
  state_peaks(launches.imported);
  const auto& roofs = launches.imported.stated;
  ASSERT_EQ(roofs.size(), 4u) << "what is stated stays";
  EXPECT_EQ(roofs[2].device, 0);
  EXPECT_EQ(roofs[2].value, 5e9);
  EXPECT_EQ(roofs[3].device, 3);
  EXPECT_EQ(roofs[3].value, 8e9) << "of two the upper";
}

}  // namespace
}  // namespace gable

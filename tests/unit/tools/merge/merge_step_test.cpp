// SPDX-License-Identifier: Apache-2.0
// The steps of ranks as one, and what all GPUs of a kind have.
#include "tools/merge/merge_step.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/merge/ranks.h"

namespace gable::tests {
namespace {

Report with(const Step& step) {
  Report report;
  report.step = step;
  return report;
}

TEST(MergeSteps, MeansOfEveryNumber) {
  for (Maybe Step::*part :
       {&Step::wall_mean_ns, &Step::host_mean_ns, &Step::busy_ns, &Step::idle_ns, &Step::copy_ns,
        &Step::sync_ns, &Step::launch_latency_ns, &Step::mfu, &Step::hfu, &Step::model_flops}) {
    Step one, other;
    one.*part = 10;
    EXPECT_FALSE(merge_steps({with(one), with(other)}).*part);
    other.*part = 30;
    EXPECT_EQ(merge_steps({with(one), with(other)}).*part, 20.0);
  }
}

TEST(MergeSteps, TheDeviationIsThatOfAllSteps) {
  Step one, other;
  one.wall_mean_ns = one.host_mean_ns = 100;
  other.wall_mean_ns = other.host_mean_ns = 300;
  one.wall_stddev_ns = other.wall_stddev_ns = 0;
  one.host_stddev_ns = 60;
  other.host_stddev_ns = 80;
  const Step both = merge_steps({with(one), with(other)});
  EXPECT_DOUBLE_EQ(*both.wall_stddev_ns, 100);
  EXPECT_DOUBLE_EQ(*both.host_stddev_ns, std::sqrt(15000));  // 100² + (60² + 80²) / 2
  other.wall_stddev_ns.reset();
  other.host_mean_ns.reset();
  EXPECT_FALSE(merge_steps({with(one), with(other)}).wall_stddev_ns);
  EXPECT_FALSE(merge_steps({with(one), with(other)}).host_stddev_ns);
}

TEST(MergeSteps, WhatAStepWaitsFor) {
  Step one, other;
  one.critical_path = {1, 2, 3, 4, 3, 5, 6, 7, 2};
  other.critical_path = {11, 22, 33, 44, 9, 55, 66, 77, 4};
  one.exposed = {1, 2, 3, 4, {{1, 9}, {2, 8}, {3, 7}, {4, 6}, {{2, 5}}, {{3, 4}}}};
  other.exposed = {3, 6, 9, 12, {{5, 5}, {1, 9}, {3, 3}, {0, 10}, {{1, 6}}, {{0, 5}}}};
  one.graph = {3, 100, 0.9, 0.1, 0.2, 10, 1, true};
  other.graph = {4, 300, 0.8, 0.3, 0.4, 20, 2, false};
  const Step both = merge_steps({with(one), with(other)});
  const PathTimes& path = *both.critical_path;
  EXPECT_EQ(path.kernels_ns, 6);
  EXPECT_EQ(path.communication_ns, 12);
  EXPECT_EQ(path.copies_ns, 18);
  EXPECT_EQ(path.host_ns, 24);
  EXPECT_EQ(path.input_ns, 6);
  EXPECT_EQ(path.waits_ns, 3);
  EXPECT_EQ(path.launches_ns, 30);
  EXPECT_EQ(path.gaps_ns, 36);
  EXPECT_EQ(path.unexplained_ns, 42);
  const ExposedTimes& exposed = *both.exposed;
  EXPECT_EQ(exposed.compute_ns, 2);
  EXPECT_EQ(exposed.communication_ns, 4);
  EXPECT_EQ(exposed.copies_ns, 6);
  EXPECT_EQ(exposed.idle_ns, 8);
  const auto bounds = [](const StepSaving& saving) {
    return std::pair(saving.low_ns, saving.high_ns);
  };
  EXPECT_EQ(bounds(exposed.without.compute), std::pair(1.0, 9.0));
  EXPECT_EQ(bounds(exposed.without.communication), std::pair(1.0, 9.0));
  EXPECT_EQ(bounds(exposed.without.copies), std::pair(3.0, 7.0));
  EXPECT_EQ(bounds(exposed.without.host), std::pair(0.0, 10.0));
  EXPECT_EQ(bounds(exposed.without.input.value()), std::pair(1.0, 6.0));
  EXPECT_EQ(bounds(exposed.without.waits.value()), std::pair(0.0, 5.0));
  EXPECT_EQ(both.graph->steps, 7u);
  EXPECT_EQ(both.graph->wall_ns, 200);
  EXPECT_EQ(both.graph->explained, 0.8);
  EXPECT_EQ(both.graph->replay_error, 0.3);
  EXPECT_DOUBLE_EQ(both.graph->overlapped, 0.3);
  EXPECT_EQ(both.graph->edges, 30u);
  EXPECT_EQ(both.graph->violated_edges, 3u);
  EXPECT_FALSE(both.graph->stream_waits_known);
  other.critical_path->input_ns.reset();
  other.exposed->without.input.reset();
  other.critical_path->waits_ns.reset();
  other.exposed->without.waits.reset();
  other.graph->stream_waits_known = true;
  other.graph->replay_error.reset();
  const Step known = merge_steps({with(one), with(other)});
  EXPECT_FALSE(known.critical_path->input_ns);
  EXPECT_FALSE(known.exposed->without.input);
  EXPECT_FALSE(known.critical_path->waits_ns);
  EXPECT_FALSE(known.exposed->without.waits);
  EXPECT_TRUE(known.graph->stream_waits_known);
  EXPECT_FALSE(known.graph->replay_error);
  const Step half = merge_steps({with(one), with({})});
  EXPECT_FALSE(half.critical_path);
  EXPECT_FALSE(half.exposed);
  EXPECT_FALSE(half.graph);
}

Ceiling roof(std::int32_t device, double value, const std::string& source = "theoretical",
             SmClock clock = SmClock::none) {
  return {device, CeilingKind::memory, "dram", value, source, clock};
}

TEST(MergeDevices, RoofsAreMeansOfTheGpusThatWereUsed) {
  Report one = rank_of(0, 10, 1), other = rank_of(1, 10, 1);
  one.ceilings = {roof(0, 100), roof(0, 60, "measured: here"), roof(1, 9000)};
  other.ceilings = {roof(0, 300), roof(0, 60, "measured: there"),
                    roof(0, 80, "theoretical", SmClock::boost)};
  one.sm_clock_measured_hz[0] = 1e9;
  other.sm_clock_measured_hz[0] = 2e9;
  const Report all = merged({one, other});
  ASSERT_EQ(all.ceilings.size(), 3u);
  EXPECT_EQ(all.ceilings[0].value, 200);
  EXPECT_TRUE(all.ceilings[0].source.starts_with("theoretical; ")) << all.ceilings[0].source;
  EXPECT_TRUE(all.ceilings[0].source.ends_with(" 2 GPUs")) << all.ceilings[0].source;
  EXPECT_EQ(all.ceilings[1].value, 60);
  EXPECT_EQ(all.ceilings[1].source, "measured: here");
  EXPECT_EQ(all.ceilings[2].value, 80);
  EXPECT_EQ(all.ceilings[2].clock, SmClock::boost);
  EXPECT_EQ(all.sm_clock_measured_hz.at(0), 1.5e9);
  other.sm_clock_measured_hz[0].reset();
  EXPECT_TRUE(merged({one, other}).sm_clock_measured_hz.empty());
  other.sm_clock_measured_hz.clear();
  EXPECT_TRUE(merged({one, other}).sm_clock_measured_hz.empty());
  EXPECT_TRUE(merged({other, one}).sm_clock_measured_hz.empty());
}

TEST(MergeDevices, OtherKindsStayApart) {
  Report one = rank_of(0, 10, 1), other = rank_of(1, 10, 1), third = rank_of(2, 20, 1);
  other.devices[0].sm_count = 50;
  for (Report* each : {&other, &third}) {
    DeviceInfo second = each->devices[0];
    second.id = 5;
    each->devices.push_back(second);
  }
  other.ceilings = {roof(0, 70)};
  third.devices[0].name = "other";
  // Only the third uses its second GPU, for a copy.
  third.copies[0].device = 5;
  third.devices[1].name = "GPU";
  const Report all = merged({one, other, third});
  ASSERT_EQ(all.devices.size(), 3u);
  EXPECT_EQ(all.devices[0].name, "GPU");
  EXPECT_EQ(all.devices[0].sm_count, 100);
  EXPECT_EQ(all.devices[1].sm_count, 50);
  EXPECT_EQ(all.devices[2].name, "other");
  for (std::int32_t i = 0; i < 3; ++i) EXPECT_EQ(all.devices[static_cast<std::size_t>(i)].id, i);
  ASSERT_EQ(all.ceilings.size(), 1u);
  EXPECT_EQ(all.ceilings[0].device, 1);
  ASSERT_EQ(all.kernels.size(), 3u);
  EXPECT_EQ(all.kernels[0].launches, 1);  // two launches, on one of two GPUs of the kind
  EXPECT_EQ(all.kernels[1].launches, 2);
  EXPECT_EQ(all.kernels[1].device, 1);
  EXPECT_EQ(all.kernels[2].device, 2);
}

}  // namespace
}  // namespace gable::tests

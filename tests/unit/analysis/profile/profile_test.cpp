// SPDX-License-Identifier: Apache-2.0
// What a window's launches, records and samples become in the report.
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class ProfileWindows : public ProfileTest {};

TEST_F(ProfileWindows, DurationsOfAKeyHaveTheirMoments) {
  const LaunchKey k = key(layer({"net", "conv"}), "k");
  begin(1, kTime);
  std::uint64_t start = 1000;
  for (const std::uint64_t duration : {40, 10, 30, 20}) {
    timed(k, start, start + duration);
    start += 100;
  }
  end(kTime);
  const KernelRow row = kernel_named(report(), "k");
  EXPECT_EQ(row.launches, 4);
  EXPECT_EQ(row.samples_time, 4u);
  EXPECT_EQ(row.time_source, TimeSource::time);
  EXPECT_EQ(row.time_mean_ns, 25);
  EXPECT_EQ(row.time_median_ns, 25);
  EXPECT_EQ(row.time_min_ns, 10);
  EXPECT_EQ(row.time_max_ns, 40);
  EXPECT_EQ(row.time_total_ns, 100);
  EXPECT_NEAR(*row.time_stddev_ns, 12.909944487358056, 1e-12);  // of a sample: sqrt(500 / 3)
}

TEST_F(ProfileWindows, OneLaunchHasNoSpread) {
  begin(1, kTime);
  timed(key(0, "k"), 10, 20);
  end(kTime);
  EXPECT_FALSE(kernel_named(report(), "k").time_stddev_ns.has_value());
}

TEST_F(ProfileWindows, AThrownAwayWindowContributesOnlyLaunches) {
  profile.set_metrics(kFlops, kFlopsMetrics);
  const LaunchKey k = key(0, "k");
  begin(1, kTime);
  const std::uint32_t late = launch(k);
  timed(k, 100, 900);
  end(kTime, false, 50, 1000, "a module was loaded in it.");
  begin(2, kFlops);
  sample(kFlops, k, {1, 2, 3});
  end(kFlops, false);
  record(late, 100, 200);
  const Report made = report();
  const KernelRow row = kernel_named(made, "k");
  EXPECT_EQ(row.launches, 3);
  EXPECT_EQ(row.samples_time, 0u);
  EXPECT_FALSE(row.time_mean_ns.has_value());
  EXPECT_FALSE(row.flops.fp32.has_value());
  EXPECT_EQ(made.run.lost.windows, 2u);
  EXPECT_EQ(made.run.lost.unattributed_launches, 0u);
  EXPECT_EQ(made.run.steps.time, 0u);
  EXPECT_TRUE(has_note(made, "1 window was thrown away: a module was loaded in it."));
}

TEST_F(ProfileWindows, RecordsWithoutUsableTimesAreDroppedAndCounted) {
  const LaunchKey k = key(0, "k");
  begin(1, kTime);
  timed(k, 0, 0);
  timed(k, 5, 0);
  timed(k, 20, 10);
  timed(k, 100, 107);
  timed(k, 200, 200);  // no time at all is a time
  end(kTime);
  const Report made = report();
  EXPECT_EQ(made.run.lost.zero_timestamps, 3u);
  const KernelRow row = kernel_named(made, "k");
  EXPECT_EQ(row.samples_time, 2u);
  EXPECT_EQ(row.time_mean_ns, 3.5);
  EXPECT_EQ(row.launches, 5);
}

TEST_F(ProfileWindows, RecordsWithoutALaunchAreLostButThoseOutsideWindowsAreNot) {
  const std::uint32_t before = launch(key(0, "k"));  // no window: warm-up, or between two
  begin(1, kFlops);
  const std::uint32_t counted = launch(key(0, "k"));
  end(kFlops);
  record(before, 10, 20);
  record(counted, 30, 40);
  EXPECT_EQ(report().run.lost.unattributed_launches, 0u);
  record(777777, 50, 60);
  record(0, 50, 60);
  EXPECT_EQ(report().run.lost.unattributed_launches, 2u);
  EXPECT_FALSE(kernel_named(report(), "k").time_mean_ns.has_value());
}

TEST_F(ProfileWindows, GraphLaunchesAreCountedOnceAndMakeUnionsUnknown) {
  profile.count_step(1);
  begin(1, kTime);
  timed(key(0, "k"), 10, 20);
  profile.add(GraphLaunch{0, {}, window, 500});
  end(kTime);
  record(500, 30, 40);  // two kernels of the graph
  record(500, 40, 50);
  const Report made = report();
  EXPECT_EQ(made.run.lost.unattributed_launches, 1u);
  EXPECT_FALSE(made.step.busy_ns.has_value());
  EXPECT_TRUE(has_note(made, "1 CUDA graph launch is counted but not attributed"));
}

// --metrics may name what a quantity is made of: half of the tensor operations, or the same sectors
// again. Its value is shown and not counted.
TEST_F(ProfileWindows, WhatIsCollectedForItsOwnSakeIsNoPartOfTheWork) {
  const std::string part = "sm__ops_path_tensor_src_fp16_sparsity_on.sum";
  profile.set_metrics(kHw1, {"sm__ops_path_tensor_src_fp16.sum", part, "dram__sectors_op_read.sum",
                             "l1tex__t_sector_hit_rate.pct"});
  profile.set_raw_metrics({part, "dram__sectors_op_read.sum", "l1tex__t_sector_hit_rate.pct"});
  const LaunchKey k = key(0, "k");
  begin(1, kHw1);
  sample(kHw1, k, {1000, 400, 7, 50});
  sample(kHw1, k, {1000, 400, 7, 70});
  end(kHw1);
  const KernelRow row = kernel_named(report(), "k");
  EXPECT_EQ(row.flops.tensor.at("fp16"), 1000);
  EXPECT_EQ(row.counters.at(part), 400);
  EXPECT_FALSE(row.bytes.dram_read);
  EXPECT_EQ(row.counters.at("l1tex__t_sector_hit_rate.pct"), 60);  // the mean of the launches
}

// Of launches that were counted together: sums are of all of them, and a percentage is of each.
TEST_F(ProfileWindows, APercentageOfARangeIsThatOfItsLaunches) {
  profile.set_metrics(kHw1, {"dram__sectors_read.sum", "l1tex__t_sector_hit_rate.pct"});
  const LaunchKey k = key(0, "k");
  begin(1, kHw1);
  for (int i = 0; i < 4; ++i) launch(k);
  const std::vector<double> three = {300, 80}, one = {500, 40};
  profile.add(kHw1, window, CounterSample{k, three.data(), 3});
  profile.add(kHw1, window, CounterSample{k, one.data(), 1});
  end(kHw1);
  const KernelRow row = kernel_named(report(), "k");
  EXPECT_EQ(row.counters.at("dram__sectors_read.sum"), 200);
  EXPECT_EQ(row.counters.at("l1tex__t_sector_hit_rate.pct"), 70);
}

// Hits of L2 and its sectors are never in one pass: their means are of the same work, or not
// divided.
TEST_F(ProfileWindows, HitsAndSectorsOfOtherWorkAreNotDivided) {
  profile.set_metrics(kHw1, {"lts__t_sectors.sum"});
  profile.set_metrics(kHw2, {"lts__t_sectors_lookup_hit.sum"});
  profile.set_metrics(kFlops, kFlopsMetrics);
  const LaunchKey same = key(0, "same"), other = key(0, "other");
  begin(1, kHw1);
  for (const LaunchKey& each : {same, other}) sample(kHw1, each, {80});
  end(kHw1);
  begin(2, kHw2);
  for (const LaunchKey& each : {same, other}) sample(kHw2, each, {60});
  end(kHw2);
  for (const double work : {100.0, 200.0}) {
    begin(window + 1, kFlops);
    sample(kFlops, same, {0, 0, 100});
    sample(kFlops, other, {0, 0, work});
    end(kFlops);
  }
  const Report made = report();
  ASSERT_TRUE(kernel_named(made, "other").has_flag("work_varies"));
  EXPECT_FALSE(kernel_named(made, "other").metrics);
  ASSERT_TRUE(kernel_named(made, "same").metrics);
  EXPECT_EQ(kernel_named(made, "same").metrics->l2_hit_rate, 0.75);
}

TEST_F(ProfileWindows, CountersAreMeansOverKeptWindowsAndGroups) {
  profile.set_metrics(kHw1, {"dram__sectors_read.sum", "dram__sectors_write.sum"});
  profile.set_metrics(kHw2, {"dram__sectors_read.sum", "l1tex__t_bytes.sum"});
  const LaunchKey k = key(0, "k");
  begin(1, kHw1);
  sample(kHw1, k, {10, 1});
  sample(kHw1, k, {30, std::nan("")});
  end(kHw1);
  begin(2, kHw2);
  sample(kHw2, k, {50, 4096});
  end(kHw2);
  begin(3, kHw1);
  sample(kHw1, k, {1e9, 1e9});
  end(kHw1, false);
  const KernelRow row = kernel_named(report(), "k");
  EXPECT_EQ(row.counters.at("dram__sectors_read.sum"), 30);  // both groups' samples
  EXPECT_EQ(row.counters.at("dram__sectors_write.sum"), 1);  // NaN is unknown, not 0
  EXPECT_EQ(row.counters.at("l1tex__t_bytes.sum"), 4096);
  EXPECT_EQ(row.samples_hw, 3u);
  EXPECT_EQ(row.bytes.dram_read, 960);
  EXPECT_EQ(row.bytes.dram, 992);
}

TEST_F(ProfileWindows, RestartForgetsSamplesButKnowsTheOldLaunches) {
  profile.add_device(a100());
  profile.set_metrics(kFlops, kFlopsMetrics);
  begin(1, kTime);
  const std::uint32_t old = launch(key(0, "k"));
  end(kTime);
  profile.restart();
  record(old, 10, 20);
  EXPECT_FALSE(has_launches(profile));
  begin(2, kFlops);
  sample(kFlops, key(0, "k"), {1, 1, 1});
  end(kFlops);
  const Report made = report();
  EXPECT_EQ(made.run.lost.unattributed_launches, 0u);
  EXPECT_EQ(kernel_named(made, "k").launches, 1);
  EXPECT_EQ(kernel_named(made, "k").flops.fp32, 4);
  ASSERT_EQ(made.devices.size(), 1u);
}

TEST_F(ProfileWindows, WindowsThatLackCopiesAreNotCountedForThem) {
  const LayerId to = layer({"data"});
  for (std::uint32_t id = 1; id <= 3; ++id) {
    profile.count_step(1);
    begin(id, kTime);
    const std::uint64_t start = std::uint64_t{1000} * id;
    timed(key(to, "k"), start + 100, start + 120);
    if (id == 1) {
      profile.lose_copies(window);
    } else {
      profile.add(CopyCall{to, window, 1000 + id});
      CopyRecord record;
      record.start_ns = start + 130;
      record.end_ns = start + 140;
      record.bytes = 4096;
      record.correlation = 1000 + id;
      record.kind = CopyKind::host_to_device;
      profile.add(record);
    }
    end(kTime, true, start, start + 500);
  }
  const Report made = report();
  ASSERT_EQ(made.copies.size(), 1u);
  EXPECT_EQ(made.copies[0].count, 1);
  EXPECT_EQ(made.step.copy_ns, 10);
  EXPECT_EQ(kernel_named(made, "k").time_mean_ns, 20);
}

TEST_F(ProfileWindows, CopiesBelongToTheWindowOfTheirCall) {
  profile.count_step(1);
  const LayerId to = layer({"data"});
  const auto copied = [&](std::uint32_t correlation, std::uint64_t start, std::uint64_t bytes) {
    CopyRecord record;
    record.start_ns = start;
    record.end_ns = start + 10;
    record.bytes = bytes;
    record.correlation = correlation;
    record.kind = CopyKind::host_to_device;
    profile.add(record);
  };
  begin(1, kTime);
  timed(key(to, "k"), 100, 120);
  profile.add(CopyCall{to, window, 1001});
  profile.add(CopyCall{to, window, 1002});
  copied(1001, 130, 4096);
  copied(5555, 150, 100);  // its call was not seen, but it ran in this window
  end(kTime, true, 90, 200);
  copied(1002, 190, 1024);  // late
  begin(2, kTime);
  profile.add(CopyCall{to, window, 1003});
  copied(1003, 300, 1u << 20);
  end(kTime, false);
  const Report made = report();
  ASSERT_EQ(made.copies.size(), 2u);
  EXPECT_FALSE(made.copies[0].layer.has_value());
  EXPECT_EQ(made.copies[0].bytes, 100);
  EXPECT_EQ(made.copies[1].kind, CopyKind::host_to_device);
  EXPECT_EQ(made.copies[1].layer, layer_at(made, {"data"}).id);
  EXPECT_EQ(made.copies[1].count, 2);
  EXPECT_EQ(made.copies[1].bytes, 5120);
  EXPECT_EQ(made.copies[1].time_ns, 20);
  EXPECT_EQ(made.step.copy_ns, 30);
}

}  // namespace
}  // namespace gable::tests

// SPDX-License-Identifier: Apache-2.0
// Rows of graphs, of ranges, of exchanges between GPUs, and how a kernel's parts are joined.
#include <algorithm>

#include "analysis/profile/range_rows.h"
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class KernelRowsOf : public ProfileTest {
 protected:
  // One time window, with launches of these lengths after each other.
  void timed_window(WindowId id, const LaunchKey& of, const std::vector<std::uint64_t>& lengths) {
    begin(id, kTime);
    std::uint64_t now = id * 1'000'000ull;
    for (const std::uint64_t ns : lengths) {
      timed(of, now, now + ns);
      now += ns + 100;
    }
    end(kTime, true, id * 1'000'000ull, now);
  }
};

TEST_F(KernelRowsOf, AGraphIsOneRowOfAllItsKernels) {
  const LaunchKey k = key(layer({"net", "a"}), "k", 3);
  GraphShape shape;
  shape.layer = layer({"net"});
  shape.kernels = 2;
  shape.threads = 1000;
  shape.known = {{k, 2}};
  GraphLaunch graph;
  graph.graph = profile.add_graph(shape);
  graph.key = key(shape.layer, "(graph 1)", 7);
  profile.set_metrics(kFlops, kFlopsMetrics);
  profile.count_step(0);
  begin(1, kFlops);
  graph.window = 1;
  graph.correlation = next_correlation++;
  profile.add(graph);
  const double values[] = {100, 0, 0};
  profile.add(kFlops, 1, CounterSample{graph.key, values});
  end(kFlops);
  const Report made = report();
  const KernelRow& row = kernel_named(made, "(graph of 2 kernels)");
  EXPECT_EQ(row.graph, 1);
  EXPECT_EQ(row.nodes, 2);
  EXPECT_EQ(row.grid, (Dim3{0, 0, 0}));
  EXPECT_EQ(row.block, (Dim3{0, 0, 0}));
  EXPECT_EQ(row.flops.fp32, 100);
  EXPECT_TRUE(row.counts_again());
}

TEST_F(KernelRowsOf, ARangeSpeaksForTheKernelsOfItsLayer) {
  profile.count_ranges();
  profile.set_metrics(kFlops, kFlopsMetrics);
  const LaunchKey first = key(layer({"net"}), "first", 2),
                  second = key(layer({"net"}), "second", 3);
  const LaunchKey beside = key(layer({"other"}), "beside");
  const auto launch_in = [&](const LaunchKey& of) {
    profile.add(LaunchEvent{of, window, next_correlation, false, true});
    return next_correlation++;
  };
  profile.count_step(0);
  begin(1, kFlops);
  launch_in(first);
  launch_in(second);
  const LaunchKey range = range_key(layer({"net"}), 0, functions.intern(std::string(kRangeSymbol)));
  const double values[] = {100, 0, 0};
  CounterSample sample{range, values};
  sample.launches = 2;
  profile.add(kFlops, 1, sample);
  end(kFlops);
  begin(2, kTime);
  record(launch_in(first), 2'000'000, 2'001'000);
  record(launch_in(second), 2'002'000, 2'003'000);
  record(launch_in(beside), 2'002'500, 2'003'500);  // for a quarter of the range's time
  end(kTime, true, 2'000'000, 2'004'000);
  const Report made = report();
  const auto found = std::find_if(
      made.kernels.begin(), made.kernels.end(),
      [&](const KernelRow& row) { return row.ranges && row.layer == layer_at(made, {"net"}).id; });
  ASSERT_NE(found, made.kernels.end());
  EXPECT_EQ(found->ranges, 1);
  EXPECT_EQ(found->grid, (Dim3{0, 0, 0}));
  EXPECT_EQ(found->block, (Dim3{0, 0, 0}));
  EXPECT_EQ(found->cluster, (Dim3{1, 1, 1}));
  EXPECT_EQ(found->overlap, 0.25);
  EXPECT_TRUE(has_flag(*found, "overlapped"));
  EXPECT_EQ(found->flops.fp32, 50);  // of one launch
  EXPECT_FALSE(kernel_named(made, "first").ranges);
}

TEST_F(KernelRowsOf, MessagesHaveSizesWhereEveryLaunchToldItsOwn) {
  const LaunchKey all = key(0, "ncclDevKernel_AllReduce"), some = key(0, "ncclDevKernel_Send");
  const auto call = [&](const LaunchKey& of, Collective kind, std::optional<std::uint64_t> bytes,
                        std::uint32_t ranks = 4, bool one_node = true) {
    profile.add(CollectiveCall{of, kind, ranks, bytes, one_node});
  };
  timed_window(1, all, {100, 100});
  timed_window(2, some, {100, 100});
  call(all, Collective::all_reduce, 1000);
  call(all, Collective::all_reduce, 3000);
  call(some, Collective::send_receive, 500);
  Report made = report();
  const auto row = [&](const char* name) {
    return kernel_named(made, name).collective.value_or(CollectiveRow());
  };
  EXPECT_EQ(row("ncclDevKernel_AllReduce").kind, Collective::all_reduce);
  EXPECT_EQ(row("ncclDevKernel_AllReduce").ranks, 4);
  EXPECT_TRUE(row("ncclDevKernel_AllReduce").one_node);
  EXPECT_EQ(row("ncclDevKernel_AllReduce").bytes, 2000);
  EXPECT_EQ(row("ncclDevKernel_AllReduce").bus_bytes, 3000);  // x 2 x 3 / 4
  EXPECT_EQ(row("ncclDevKernel_Send").bytes, std::nullopt);
  EXPECT_EQ(row("ncclDevKernel_Send").kind, Collective::send_receive);
  // Calls that differ.
  timed_window(3, some, {100});
  call(some, Collective::broadcast, std::nullopt, 2, false);
  call(some, Collective::send_receive, 500);
  made = report();
  EXPECT_EQ(row("ncclDevKernel_Send").kind, Collective::unknown);
  EXPECT_EQ(row("ncclDevKernel_Send").ranks, std::nullopt);
  EXPECT_FALSE(row("ncclDevKernel_Send").one_node);
  EXPECT_EQ(row("ncclDevKernel_Send").bytes, std::nullopt);
  EXPECT_EQ(row("ncclDevKernel_Send").bus_bytes, std::nullopt);
}

TEST_F(KernelRowsOf, TimesOfAKernel) {
  const LaunchKey k = key(0, "k");
  timed_window(1, k, {100, 200, 600});
  launch(k);  // not timed
  const Report made = report();
  const KernelRow& row = kernel_named(made, "k");
  EXPECT_EQ(row.time_source, TimeSource::time);
  EXPECT_EQ(row.time_mean_ns, 300);
  EXPECT_EQ(row.time_median_ns, 200);
  EXPECT_EQ(row.time_min_ns, 100);
  EXPECT_EQ(row.time_max_ns, 600);
  EXPECT_NEAR(*row.time_stddev_ns, 264.575131, 1e-6);  // sqrt(70,000)
  EXPECT_EQ(row.time_total_ns, 1200);
  EXPECT_EQ(row.samples_time, 3u);
  EXPECT_EQ(row.launches, 4);
}

// Three of ten launches were timed: the quotient is rounded once.
TEST_F(KernelRowsOf, TimesOfAllLaunchesAreRoundedOnce) {
  const LaunchKey k = key(0, "k");
  timed_window(1, k, {100, 100, 101});
  for (int i = 0; i < 7; ++i) launch(k);
  EXPECT_EQ(kernel_named(report(), "k").time_total_ns, 3010.0 / 3);
}

// A third, and more than 2 us, more or less than with counters.
TEST_F(KernelRowsOf, TimesWithAndWithoutCounters) {
  profile.set_metrics(kHw1, kHwMetrics);
  profile.count_step(1);
  WindowId id = 1;
  const auto flagged = [&](const char* name, double counted, std::uint64_t timed_ns) {
    const LaunchKey k = key(0, name);
    begin(++id, kHw1);
    sample(kHw1, k, {1, 1, counted});
    end(kHw1);
    timed_window(++id, k, {timed_ns});
    return has_flag(kernel_named(report(), name), "times_differ");
  };
  EXPECT_FALSE(flagged("same", 30'000, 40'000));
  EXPECT_TRUE(flagged("longer", 30'000, 40'001));
  EXPECT_TRUE(flagged("shorter", 40'001, 30'000));
  EXPECT_FALSE(flagged("short", 1'000, 3'000));
  EXPECT_TRUE(flagged("clock", 1'000, 3'001));
}

TEST_F(KernelRowsOf, WhatRecordsTellOfResources) {
  const LaunchKey k = key(0, "k"), unknown = key(0, "unknown");
  begin(1, kTime);
  KernelRecord record;
  record.correlation = launch(k);
  record.start_ns = 100;
  record.end_ns = 200;
  record.resources = {32, 2048};
  profile.add(record);
  timed(unknown, 300, 400);
  end(kTime, true, 100, 500);
  const Report made = report();
  EXPECT_EQ(kernel_named(made, "k").registers, 32);
  EXPECT_EQ(kernel_named(made, "k").shared_bytes, 2048);
  EXPECT_FALSE(kernel_named(made, "unknown").registers);
  EXPECT_FALSE(kernel_named(made, "unknown").shared_bytes);
}

// A metric that two groups counted has the mean of all samples; one that was not counted of a
// kernel is unknown, and not missing.
TEST_F(KernelRowsOf, CountersAreMeansOverTheirSamples) {
  profile.set_metrics(kHw1, {"a__x.sum", "b__x.sum"});
  profile.set_metrics(kHw2, {"a__x.sum"});
  const LaunchKey k = key(0, "k"), one = key(0, "one");
  profile.count_step(1);
  begin(1, kHw1);
  sample(kHw1, k, {10, 5});
  sample(kHw1, k, {20, std::nan("")});
  end(kHw1);
  begin(2, kHw2);
  sample(kHw2, k, {60});
  sample(kHw2, one, {7});
  end(kHw2);
  const Report made = report();
  const auto& counters = kernel_named(made, "k").counters;
  EXPECT_EQ(counters.at("a__x.sum"), 30);
  EXPECT_EQ(counters.at("b__x.sum"), 5);
  EXPECT_EQ(kernel_named(made, "k").samples_hw, 3u);
  EXPECT_EQ(kernel_named(made, "k").samples_flops, 0u);
  EXPECT_EQ(kernel_named(made, "one").counters.at("a__x.sum"), 7);
  ASSERT_TRUE(kernel_named(made, "one").counters.contains("b__x.sum"));
  EXPECT_EQ(kernel_named(made, "one").counters.at("b__x.sum"), std::nullopt);
}

TEST_F(KernelRowsOf, FlopsOfOneWindowAreUnchecked) {
  profile.set_metrics(kFlops, kFlopsMetrics);
  const LaunchKey k = key(0, "k");
  profile.count_step(1);
  const auto window_of = [&](WindowId id, double adds) {
    begin(id, kFlops);
    sample(kFlops, k, {adds, 0, 0});
    end(kFlops);
    return report();
  };
  const Report one = window_of(1, 100);
  EXPECT_TRUE(has_flag(kernel_named(one, "k"), "flops_unchecked"));
  const Report two = window_of(2, 100);
  EXPECT_FALSE(has_flag(kernel_named(two, "k"), "flops_unchecked"));
  EXPECT_FALSE(has_flag(kernel_named(two, "k"), "work_varies"));
  const Report three = window_of(3, 200);
  EXPECT_TRUE(has_flag(kernel_named(three, "k"), "work_varies"));
}

TEST_F(KernelRowsOf, BytesThatSpreadAreFlagged) {
  profile.set_metrics(kHw1, kHwMetrics);
  profile.count_step(1);
  WindowId id = 0;
  const auto flagged = [&](const char* name, double first, double second) {
    const LaunchKey k = key(0, name);
    for (const double sectors : {first, second}) {
      begin(++id, kHw1);
      sample(kHw1, k, {sectors, 0, 5000});
      end(kHw1);
    }
    return has_flag(kernel_named(report(), name), "spread");
  };
  EXPECT_FALSE(flagged("alike", 1000, 1050));
  EXPECT_TRUE(flagged("apart", 1000, 2000));
}

}  // namespace
}  // namespace gable::tests

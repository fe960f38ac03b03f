// SPDX-License-Identifier: Apache-2.0
// Launches of CUDA graphs, which count for each of their kernels.
#include "analysis/profile/graphs.h"
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class ProfileGraphs : public ProfileTest {
 protected:
  const LaunchKey a = key(layer({"net", "a"}), "a"), b = key(layer({"net", "b"}), "b");

  GraphShape shape(std::uint32_t of_a = 2, std::uint32_t of_b = 1) {
    GraphShape made;
    made.layer = layer({"net"});
    made.kernels = of_a + of_b;
    made.known = {{a, of_a}, {b, of_b}};
    return made;
  }
  std::uint32_t launch_graph(GraphId id) {
    GraphLaunch graph;
    graph.graph = id;
    graph.key = key(layer({"net"}), graph_symbol(id));
    graph.window = window;
    graph.correlation = next_correlation++;
    profile.add(graph);
    return graph.correlation;
  }
  void record_of(std::uint32_t correlation, const LaunchKey& of, std::uint64_t start_ns,
                 std::uint64_t end_ns, bool placed = true) {
    GraphKernelRecord kernel;
    kernel.record.correlation = correlation;
    kernel.record.start_ns = start_ns;
    kernel.record.end_ns = end_ns;
    kernel.record.resources = {32, 64};
    kernel.key = of;
    kernel.placed = placed;
    profile.add(kernel);
  }
};

TEST(GraphsOf, TheSameShapeIsTheSameGraph) {
  EXPECT_EQ(graph_symbol(12), "(graph 12)");
  GraphShape one;
  one.kernels = 1;
  EXPECT_EQ(graph_name(one), "(graph of 1 kernel)");
  one.more = true;
  EXPECT_EQ(graph_name(one), "(graph of 1 kernel or more)");
  one.kernels = 2;
  EXPECT_EQ(graph_name(one), "(graph of 2 kernels or more)");
  one.known = {{LaunchKey(), 2}};
  GraphShape other = one;
  other.known[0].count = 3;
  Graphs graphs;
  EXPECT_EQ(graphs.add(one, 3, 3), 1u);
  EXPECT_EQ(graphs.add(other, 3, 3), 2u);
  EXPECT_EQ(graphs.add(one, 3, 3), 1u);
  other.known.resize(2);
  EXPECT_EQ(graphs.add(other, 3, 3), 0u);  // four kernels in all
  EXPECT_EQ(graphs.add(other, 2, 9), 0u);  // three graphs
  EXPECT_EQ(graphs.add(other, 3, 4), 3u);
  EXPECT_EQ(graphs.add(one, 3, 4), 1u);  // is there already
  EXPECT_EQ(graphs.find(0), nullptr);
  EXPECT_EQ(graphs.find(4), nullptr);
  ASSERT_NE(graphs.find(3), nullptr);
  EXPECT_EQ(graphs.find(3)->shape, other);
  EXPECT_EQ(graphs.of_function(9), 0u);
  graphs.name(2, 9);
  EXPECT_EQ(graphs.of_function(9), 2u);
}

TEST_F(ProfileGraphs, EachLaunchCountsForItsKernels) {
  const GraphId id = profile.add_graph(shape());
  for (WindowId in = 1; in <= 2; ++in) {
    profile.count_step(1);
    begin(in, kTime);
    const std::uint64_t at = in * 10'000ull;
    const auto correlation = launch_graph(id);
    record_of(correlation, a, at + 100, at + 200);
    record_of(correlation, a, at + 200, at + 260);
    EXPECT_EQ(profile.pending_records(), 1u);
    record_of(correlation, b, at + 300, at + 350);
    EXPECT_EQ(profile.pending_records(), 0u);
    end(kTime, true, at, at + 1000);
  }
  const Report made = report();
  EXPECT_EQ(kernel_named(made, "a").launches, 2);
  EXPECT_EQ(kernel_named(made, "a").time_mean_ns, 80);
  EXPECT_EQ(kernel_named(made, "a").registers, 32);
  EXPECT_EQ(kernel_named(made, "b").launches, 1);
  const KernelRow& whole = kernel_named(made, "(graph of 3 kernels)");
  EXPECT_EQ(whole.launches, 1);
  EXPECT_EQ(whole.time_mean_ns, 210);
  EXPECT_EQ(layer_at(made, {"net"}).time_total_ns, 210);
  EXPECT_EQ(layer_at(made, {"net"}).launches, 3);
  EXPECT_EQ(made.step.busy_ns, 210);
  EXPECT_EQ(made.run.lost.unattributed_launches, 0u);
}

TEST_F(ProfileGraphs, AKernelWhoseNodeWasNotSeenIsInTheGraphsLayer) {
  GraphShape unknown = shape();
  unknown.known.clear();
  const GraphId id = profile.add_graph(unknown);
  begin(1, kTime);
  const auto correlation = launch_graph(id);
  for (int i = 0; i < 3; ++i)
    record_of(correlation, key(0, "late"), 100 + i * 10, 105 + i * 10, false);
  end(kTime, true, 50, 200);
  const Report made = report();
  const KernelRow& late = kernel_named(made, "late");
  EXPECT_EQ(late.layer, layer_at(made, {"net"}).id);
  EXPECT_EQ(late.launches, 3);
  EXPECT_EQ(late.time_total_ns, 15);
  EXPECT_TRUE(has_note(made, "3 kernels of CUDA graphs are"));
}

// Of a kernel without a time the graph's is unknown, and so is how much of the step was busy.
TEST_F(ProfileGraphs, ARecordWithoutATimeBreaksTheWhole) {
  profile.count_step(1);
  const GraphId id = profile.add_graph(shape());
  begin(1, kTime);
  const auto correlation = launch_graph(id);
  record_of(correlation, a, 0, 0);
  record_of(correlation, a, 200, 190);
  record_of(correlation, b, 300, 350);
  end(kTime, true, 50, 500);
  const Report made = report();
  EXPECT_EQ(made.run.lost.zero_timestamps, 2u);
  EXPECT_EQ(kernel_named(made, "(graph of 3 kernels)").time_mean_ns, std::nullopt);
  EXPECT_EQ(kernel_named(made, "b").time_mean_ns, 50);
  EXPECT_EQ(made.step.busy_ns, std::nullopt);
}

TEST_F(ProfileGraphs, RecordsOfNoLaunchAreLost) {
  const GraphId id = profile.add_graph(shape());
  const auto outside = launch_graph(id);  // in no window: does not matter
  record_of(outside, a, 10, 20);
  EXPECT_EQ(report().run.lost.unattributed_launches, 0u);
  record_of(777, a, 10, 20);
  EXPECT_EQ(report().run.lost.unattributed_launches, 1u);
  begin(1, kFlops);
  const auto counted = launch_graph(id);
  end(kFlops);
  record_of(counted, a, 10, 20);
  const Report made = report();
  EXPECT_EQ(made.run.lost.unattributed_launches, 1u);
  EXPECT_EQ(kernel_named(made, "a").launches, 4);  // of two launches
  EXPECT_EQ(kernel_named(made, "b").launches, 2);
}

TEST_F(ProfileGraphs, WhatMayRunMoreIsNeverWhollyKnown) {
  profile.count_step(1);
  GraphShape more = shape(1, 0);
  more.known.pop_back();
  more.more = true;
  const GraphId id = profile.add_graph(more);
  begin(1, kTime);
  record_of(launch_graph(id), a, 100, 200);
  end(kTime, true, 50, 500);
  EXPECT_EQ(report().step.busy_ns, std::nullopt);
  EXPECT_EQ(kernel_named(report(), "a").time_mean_ns, 100);
}

// A window that waits for a graph's record closes with its last.
TEST_F(ProfileGraphs, LateRecordsCloseTheWindow) {
  profile.count_step(1);
  const GraphId id = profile.add_graph(shape());
  begin(1, kTime);
  const auto correlation = launch_graph(id);
  end(kTime, true, 50, 500);
  EXPECT_EQ(profile.pending_records(), 3u);
  record_of(correlation, a, 100, 200);
  record_of(correlation, a, 200, 300);
  EXPECT_EQ(kernel_named(report(), "a").time_mean_ns, std::nullopt);
  record_of(correlation, b, 300, 350);
  EXPECT_EQ(kernel_named(report(), "a").time_mean_ns, 100);
  EXPECT_EQ(report().step.busy_ns, 250);
}

}  // namespace
}  // namespace gable::tests

// SPDX-License-Identifier: Apache-2.0
// What events hold where their maker said nothing.
#include "tests/unit/analysis/unsaid.h"

#include "analysis/events/collective.h"
#include "analysis/events/events.h"
#include "analysis/events/function_table.h"
#include "analysis/events/layer_tree.h"
#include "analysis/events/lost_counts.h"

namespace gable::tests {
namespace {

TEST(EventsUnsaid, ALaunchIsOfNoLayerNoWindowAndNoCall) {
  EXPECT_EQ(kNoWindow, 0u);
  EXPECT_EQ(kWholeRun, 4294967295u);
  const LaunchKey key;
  expect_zeros(key.layer, key.function, key.device, key.dynamic_shared);
  for (const Dim3& each : {key.grid, key.block, key.cluster}) EXPECT_EQ(each, (Dim3{1, 1, 1}));
  const LaunchEvent launch;
  expect_zeros(launch.window, launch.correlation, launch.inherited_layer, launch.in_range);
  const CallAfterWait after;
  expect_zeros(after.entered_ns, after.window, after.correlation);
  const CopyCall copy;
  expect_zeros(copy.layer, copy.window, copy.correlation);
  const TokenCount tokens;
  expect_zeros(tokens.layer, tokens.window, tokens.sequences, tokens.per_sequence);
  const CollectiveCall collective;
  EXPECT_EQ(collective.kind, Collective::unknown);
  expect_zeros(collective.ranks, collective.one_node);
}

TEST(EventsUnsaid, ASpanIsOfOneTimedCall) {
  const LayerSpan span;
  expect_zeros(span.layer, span.window, span.cpu_ns, span.wait_ns);
  EXPECT_EQ(span.calls, 1u);
  EXPECT_EQ(span.timed, 1u);
}

TEST(EventsUnsaid, OfAGraphNothingIsKnown) {
  const GraphShape shape;
  expect_zeros(shape.layer, shape.kernels, shape.more, shape.blocks, shape.threads);
  expect_zeros(GraphShape::Kernel().count);
  const GraphLaunch launch;
  expect_zeros(launch.graph, launch.window, launch.correlation);
}

TEST(EventsUnsaid, ARecordHasNoTimesAndNoGraph) {
  const KernelResources resources;
  expect_zeros(resources.registers, resources.shared_bytes);
  const KernelRecord kernel;
  expect_zeros(kernel.start_ns, kernel.end_ns, kernel.correlation, kernel.device, kernel.context,
               kernel.stream, kernel.resources.registers, kernel.resources.shared_bytes);
  const GraphKernelRecord node;
  expect_zeros(node.node, node.placed);
  const CopyRecord copy;
  expect_zeros(copy.start_ns, copy.end_ns, copy.correlation, copy.device, copy.node, copy.placed,
               copy.layer, copy.asynchronous);
  EXPECT_EQ(copy.kind, CopyKind::other);
  EXPECT_EQ(copy.host, HostMemory::unknown);
  EXPECT_FALSE(copy.bytes);
}

TEST(EventsUnsaid, ASampleIsOfOneLaunchAndAWindowIsKept) {
  EXPECT_EQ(CounterSample().launches, 1u);
  EXPECT_EQ(CounterSample().values, nullptr);
  const WindowEnd end;
  EXPECT_TRUE(end.keep);
  EXPECT_EQ(end.phase, (Phase{PhaseKind::off, 0}));
  expect_zeros(end.window, end.start_ns, end.end_ns, end.overhead_ns, end.changed, end.change_ns,
               end.step, end.reach, end.apart, end.sequence_hash, end.launches);
}

TEST(EventsUnsaid, ADeviceIsTheFirstAndHasNoFigures) {
  const DeviceInfo device;
  expect_zeros(device.id, device.compute_major, device.compute_minor, device.sm_count,
               device.sm_clock_max_hz, device.memory_clock_max_hz, device.memory_bus_bits,
               device.memory_bytes, device.l2_bytes);
  const DeviceLinks links;
  expect_zeros(links.pcie.generation, links.pcie.width, links.pcie_max.generation,
               links.pcie_max.width, links.nvlink_version);
  EXPECT_FALSE(links.nvlinks);
  const GpuState state;
  expect_zeros(state.samples, state.idle_samples);
  const GpuThrottling held;
  expect_zeros(held.any, held.power_cap, held.sw_thermal, held.hw_thermal, held.hw_slowdown,
               held.power_brake, held.sync_boost);
}

TEST(EventsUnsaid, AModelIsDescribedInOneStepOfNoWork) {
  const OperatorWork work;
  expect_zeros(work.bytes_read, work.bytes_written, work.operators);
  EXPECT_TRUE(work.flops_known && work.bytes_known);
  EXPECT_EQ(ModuleFacts().parameters, 0u);
  EXPECT_EQ(ModuleFacts().allocated, std::nullopt);
  EXPECT_EQ(CompiledRegion().left_out, 0u);
  EXPECT_EQ(ModelDescription().sequence_hash, 0u);
  EXPECT_EQ(ModelDescription().steps, 1u);
  const LayerTree::Node root;
  expect_zeros(root.parent, root.depth);
}

TEST(EventsUnsaid, NothingIsLostUntilItIsCounted) {
  const LostCounts none;
  expect_zeros(none.records, none.ranges, none.zero_timestamps, none.windows,
               none.unattributed_launches, none.folded_keys, none.folded_layers);
}

// Each kind has a sum of its own.
TEST(LostCountsOf, PartsOfARunAreAdded) {
  LostCounts sum{1, 2, 3, 4, 5, 6, 7};
  const LostCounts& same = sum += {10, 20, 30, 40, 50, 60, 70};
  EXPECT_EQ(&same, &sum);
  EXPECT_EQ(sum.records, 11u);
  EXPECT_EQ(sum.ranges, 22u);
  EXPECT_EQ(sum.zero_timestamps, 33u);
  EXPECT_EQ(sum.windows, 44u);
  EXPECT_EQ(sum.unattributed_launches, 55u);
  EXPECT_EQ(sum.folded_keys, 66u);
  EXPECT_EQ(sum.folded_layers, 77u);
}

TEST(EventsOf, AGridHasTheProductOfItsSidesInBlocks) {
  EXPECT_EQ((Dim3{2, 3, 5}.count()), 30u);
  EXPECT_EQ((Dim3{65536, 65536, 2}.count()), 8589934592u);  // more than 32 bits
}

TEST(EventsOf, CountersAreTakenInHwAndFlopsWindowsAlone) {
  using enum PhaseKind;
  for (const PhaseKind kind : {hw, flops}) EXPECT_TRUE(is_counter(kind));
  for (const PhaseKind kind : {off, wait, warmup, time}) EXPECT_FALSE(is_counter(kind));
}

}  // namespace
}  // namespace gable::tests

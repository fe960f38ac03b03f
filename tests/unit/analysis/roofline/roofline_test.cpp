// SPDX-License-Identifier: Apache-2.0
// Roofs, bounds and savings with numbers worked out by hand. The A100's: FP32 108 SMs x 128 x 1.41
// GHz = 19.49184 TFLOP/s, DRAM 1.215 GHz x 5120 bit x 2 / 8 = 1555.2 GB/s.
#include "analysis/roofline/roofline.h"

#include "analysis/roofline/ceilings.h"
#include "analysis/roofline/layer_sum.h"
#include "analysis/roofline/occupancy.h"
#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

constexpr double kFp32 = 19.49184e12, kDram = 1555.2e9;
constexpr double kMillisecond = 1e6;  // ns

// So much work that the roofs need these times, in ms.
KernelRow kernel(double compute_ms, double memory_ms, double time_ms, double launches = 1) {
  KernelRow row;
  row.name = "k";
  row.launches = launches;
  row.flops.fp32 = row.flops.total = kFp32 * 1e-3 * compute_ms;
  row.bytes.dram = kDram * 1e-3 * memory_ms;
  row.time_mean_ns = time_ms * kMillisecond;
  row.time_total_ns = time_ms * kMillisecond * launches;
  row.time_source = TimeSource::time;
  return row;
}

KernelRow under_roofs(KernelRow row, Maybe latency = std::nullopt) {
  Roofline(theoretical_ceilings(a100()), latency).apply(row);
  return row;
}

TEST(Roofline, TheHigherOfTheTwoTimesBinds) {
  const KernelRow memory = under_roofs(kernel(0.5, 1, 2, 3));
  EXPECT_DOUBLE_EQ(*memory.roof.fraction, 0.5);
  EXPECT_EQ(memory.roof.bound, Bound::memory);
  EXPECT_EQ(memory.roof.ceiling, "dram");
  EXPECT_EQ(memory.roof.level, MemoryLevel::dram);
  EXPECT_EQ(memory.roof.source, "theoretical");
  EXPECT_DOUBLE_EQ(*memory.roof.compute_ns, 0.5e6);
  EXPECT_DOUBLE_EQ(*memory.roof.memory_ns, 1e6);
  EXPECT_DOUBLE_EQ(*memory.saving_ns, 3 * kMillisecond);  // 3 launches x (2 - 1) ms

  const KernelRow compute = under_roofs(kernel(1, 0.5, 1.25));
  EXPECT_DOUBLE_EQ(*compute.roof.fraction, 0.8);
  EXPECT_EQ(compute.roof.bound, Bound::compute);
  EXPECT_EQ(compute.roof.ceiling, "fp32");
  EXPECT_EQ(compute.roof.level, MemoryLevel::none);
  EXPECT_DOUBLE_EQ(*compute.saving_ns, 0.25 * kMillisecond);

  EXPECT_EQ(under_roofs(kernel(1, 1, 2)).roof.bound, Bound::memory);  // equal: memory
}

TEST(Roofline, RatesAndIntensities) {
  KernelRow row = kernel(1, 1, 2);
  row.flops.total = row.flops.fp32 = 6e9;
  row.bytes.dram = 2e9;
  row.bytes.l2 = 3e9;
  const KernelRow done = under_roofs(row);
  EXPECT_DOUBLE_EQ(*done.flops_per_s, 3e12);  // 6e9 FLOP in 2 ms
  EXPECT_DOUBLE_EQ(*done.bytes_per_s, 1e12);
  EXPECT_DOUBLE_EQ(*done.intensity.dram, 3);
  EXPECT_DOUBLE_EQ(*done.intensity.l2, 2);
  EXPECT_FALSE(done.intensity.l1);
}

TEST(Roofline, BelowAQuarterNeitherRoofExplainsTheTime) {
  EXPECT_EQ(under_roofs(kernel(0.249, 0.1, 1)).roof.bound, Bound::latency);
  EXPECT_EQ(under_roofs(kernel(0.251, 0.1, 1)).roof.bound, Bound::compute);
}

TEST(Roofline, AGridThatDoesNotFillTheGpuIsSmallWhereNoRoofExplainsTheTime) {
  KernelRow row = kernel(0.249, 0.1, 1);
  row.flags = {std::string(kSmallGrid)};
  EXPECT_EQ(under_roofs(row).roof.bound, Bound::small);
  EXPECT_EQ(under_roofs(row, 2e6).roof.bound, Bound::overhead);
  row = kernel(0.251, 0.1, 1);
  row.flags = {std::string(kSmallGrid)};
  EXPECT_EQ(under_roofs(row).roof.bound, Bound::compute);
}

TEST(Roofline, ShorterThanALaunchIsOverheadAndCollectivesAreCommunication) {
  EXPECT_EQ(under_roofs(kernel(0.001, 0.001, 0.002), 3000).roof.bound, Bound::overhead);
  EXPECT_EQ(under_roofs(kernel(0.001, 0.003, 0.003), 3000).roof.bound, Bound::memory);
  KernelRow row = kernel(0.001, 0.001, 0.002);
  row.name = "ncclDevKernel_AllReduce";
  EXPECT_EQ(under_roofs(row, 3000).roof.bound, Bound::communication);
}

TEST(Roofline, AboveTheRoofIsFlaggedAndNeverClamped) {
  const KernelRow row = under_roofs(kernel(2, 1, 1));
  EXPECT_DOUBLE_EQ(*row.roof.fraction, 2);
  EXPECT_TRUE(has_flag(row, "above_roof"));
  EXPECT_EQ(*row.saving_ns, 0);
  EXPECT_FALSE(has_flag(under_roofs(kernel(1, 1, 1)), "above_roof"));
}

TEST(Roofline, WithoutFlopsThroughputsTellTheLimitAndWhatTheBusiestUnitLeaves) {
  struct Told {
    double compute, memory, saving_ns;
    Bound bound;
  };
  for (const Told& each :
       {Told{0.973, 0.618, 0.027e6, Bound::compute}, Told{0.013, 0.618, 0.382e6, Bound::memory},
        Told{0.24, 0.2, 0.76e6, Bound::latency}}) {
    KernelRow row = kernel(1, 1, 1);
    row.flops.total.reset();
    row.metrics.emplace().compute_throughput = each.compute;
    row.metrics->memory_throughput = each.memory;
    const KernelRow done = under_roofs(row);
    EXPECT_EQ(done.roof.bound, each.bound);
    EXPECT_FALSE(done.roof.fraction);  // of no roof
    EXPECT_NEAR(*done.saving_ns, each.saving_ns, 1);
  }
  KernelRow row = kernel(1, 0.1, 1);
  row.metrics.emplace().compute_throughput = 0.1;
  row.metrics->memory_throughput = 0.9;
  EXPECT_EQ(under_roofs(row).roof.bound, Bound::compute) << "its FLOPs are known";
}

TEST(Roofline, WithoutAPartNothingIsClaimed) {
  for (int missing = 0; missing < 3; ++missing) {
    KernelRow row = kernel(1, 1, 2);
    if (missing == 0) row.flops.total.reset();
    if (missing == 1) row.bytes.dram.reset();
    if (missing == 2) row.time_mean_ns.reset();
    const KernelRow done = under_roofs(row);
    EXPECT_FALSE(done.roof.fraction) << missing;
    EXPECT_EQ(done.roof.bound, Bound::unknown) << missing;
    EXPECT_FALSE(done.saving_ns) << missing;
    EXPECT_FALSE(done.intensity.dram && done.flops_per_s) << missing;
  }
  KernelRow row = kernel(1, 1, 2);
  row.metrics.emplace().compute_throughput = 0.9;  // one of two throughputs decides nothing
  row.flops.total.reset();
  EXPECT_EQ(under_roofs(row).roof.bound, Bound::unknown);
  EXPECT_FALSE(under_roofs(row).saving_ns);
  row = kernel(1, 1, 2);
  row.device = 5;  // no ceilings are known for it
  EXPECT_EQ(under_roofs(row).roof.bound, Bound::unknown);
}

TEST(Roofline, TypesOfOnePipeAddUpAndPipesRunSideBySide) {
  KernelRow row = kernel(1, 0, 4);
  row.bytes.dram = 0;
  row.flops.fp16 = 77.96736e12 * 1e-3 * 2;         // 2 ms, same pipe as FP32
  row.flops.fp64 = 9.74592e12 * 1e-3 * 2.5;        // 2.5 ms on a pipe of its own
  row.flops.tensor["bf16"] = 311.86944e12 * 1e-3;  // 1 ms
  row.ops["int8"] = 623.73888e12 * 1e-3;           // 1 ms more on the tensor cores
  const RoofTimes times = Roofline(theoretical_ceilings(a100())).times(row);
  EXPECT_NEAR(*times.compute_ns, 3 * kMillisecond, 1e-6);
  EXPECT_EQ(times.compute_ceiling, "fp16");
  row.ops["int8"] = 623.73888e12 * 1e-3 * 5;
  EXPECT_NEAR(*Roofline(theoretical_ceilings(a100())).times(row).compute_ns, 6 * kMillisecond,
              1e-6);
  row.flops.tensor["fp8"] = 1;  // no such ceiling: the pipe's time is unknown
  EXPECT_FALSE(Roofline(theoretical_ceilings(a100())).times(row).compute_ns);
}

TEST(Roofline, AMeasuredCeilingIsPreferredAndCachesCount) {
  std::vector<Ceiling> ceilings = theoretical_ceilings(a100());
  ceilings.insert(ceilings.begin(), {0, CeilingKind::memory, "dram", 1e12, "measured: copy"});
  ceilings.push_back({0, CeilingKind::memory, "l2", 4e12, "measured: copy in L2"});
  KernelRow row = kernel(0.1, 1, 4);
  row.bytes.dram = 1e9;  // 1 ms at the measured ceiling
  row.bytes.l2 = 8e9;    // 2 ms
  const Roofline roofline(ceilings);
  roofline.apply(row);
  EXPECT_DOUBLE_EQ(*row.roof.fraction, 0.5);
  EXPECT_EQ(row.roof.level, MemoryLevel::l2);
  EXPECT_EQ(row.roof.source, "measured");
  EXPECT_EQ(*roofline.ceiling(0, "dram"), 1e12);
}

TEST(Roofline, TheMeasuredClockIsPreferredToTheHighest) {
  const Roofline roofline(theoretical_ceilings(a100(), 1.128e9));  // 0.8 x 1.41 GHz
  KernelRow row = kernel(0.5, 0.1, 1);
  roofline.apply(row);
  EXPECT_DOUBLE_EQ(*row.roof.fraction, 0.5 / 0.8);
  EXPECT_DOUBLE_EQ(*roofline.ceiling(0, "fp32"), 0.8 * kFp32);
  EXPECT_DOUBLE_EQ(*roofline.ceiling(0, "dram"), kDram);
}

TEST(Roofline, SparseWorkIsUnderItsOwnRate) {
  KernelRow row = kernel(0, 0, 4);
  row.flops.tensor["fp16"] = row.flops.total = 311.86944e12 * 1e-3 * 3;  // 3 ms dense
  row.counters["sm__ops_path_tensor_src_fp16_sparsity_on.sum"] = 311.86944e12 * 1e-3 * 2;
  const Roofline listed(theoretical_ceilings(a100(), std::nullopt, {"fp16"}));
  EXPECT_NEAR(*listed.times(row).compute_ns, 2 * kMillisecond, 1e-6);  // 1 dense, 2 / 2 sparse
  const Roofline not_listed(theoretical_ceilings(a100()));
  EXPECT_NEAR(*not_listed.times(row).compute_ns, 3 * kMillisecond, 1e-6);
}

LayerRow layer_of(const std::vector<KernelRow>& kernels) {
  const Roofline roofline(theoretical_ceilings(a100()));
  LayerSum sum(roofline);
  for (const KernelRow& each : kernels) sum.add(each, true);
  LayerRow row;
  sum.fill(row);
  return row;
}

TEST(LayerSum, TimesOfTheRoofsAddUpKernelByKernel) {
  // 2 launches of 1 ms where the roof allows 0.5; 1 of 3 ms where it allows 2 (compute).
  const LayerRow row = layer_of({kernel(0.1, 0.5, 1, 2), kernel(2, 0.1, 3)});
  EXPECT_DOUBLE_EQ(*row.roof.fraction, 3.0 / 5.0);  // (2 x 0.5 + 2) / (2 x 1 + 3)
  EXPECT_EQ(row.roof.bound, Bound::compute);        // 2.2 ms against 1.1 ms
  EXPECT_EQ(row.roof.ceiling, "fp32");
  EXPECT_NEAR(*row.saving_ns, 2 * kMillisecond, 1e-6);  // 2 x 0.5 + 1
  EXPECT_EQ(row.launches, 3);
  EXPECT_EQ(row.time_total_ns, 5 * kMillisecond);
  EXPECT_NEAR(*row.flops_per_s, kFp32 * 2.2 / 5, 1);
  EXPECT_NEAR(*row.bytes_per_s, kDram * 1.1 / 5, 1);
}

TEST(LayerSum, AKernelAboveItsRoofGivesNoSavingAway) {
  const LayerRow row = layer_of({kernel(2, 0, 1), kernel(1, 0, 2)});
  EXPECT_NEAR(*row.saving_ns, kMillisecond, 1e-6);  // not 0: max(0, ·) is per kernel
}

TEST(LayerSum, RatiosNeedNearlyAllOfTheTime) {
  KernelRow unknown = kernel(1, 1, 5);
  unknown.bytes.dram.reset();
  const LayerRow enough = layer_of({kernel(50, 50, 95), unknown});
  EXPECT_DOUBLE_EQ(*enough.coverage.bytes, 0.95);
  EXPECT_DOUBLE_EQ(*enough.coverage.flops, 1);
  EXPECT_NEAR(*enough.bytes_per_s, kDram * 50 / 95, 1);  // of the kernels that have both parts
  EXPECT_NEAR(*enough.flops_per_s, kFp32 * 51 / 100, 1);
  EXPECT_TRUE(enough.roof.fraction.has_value());

  const LayerRow little = layer_of({kernel(50, 50, 94), unknown});
  EXPECT_LT(*little.coverage.bytes, 0.95);
  EXPECT_FALSE(little.bytes_per_s || little.intensity.dram || little.roof.fraction);
  EXPECT_EQ(little.roof.bound, Bound::unknown);
  EXPECT_EQ(*little.bytes.dram, kDram * 1e-3 * 50);  // a sum is of its known parts
}

TEST(LayerSum, OneKernelTimedInCounterWindowsMakesTheLayerSaySo) {
  KernelRow hw = kernel(1, 1, 1);
  hw.time_source = TimeSource::hw;
  EXPECT_EQ(layer_of({kernel(1, 1, 1)}).time_source, TimeSource::time);
  EXPECT_EQ(layer_of({hw, kernel(1, 1, 1)}).time_source, TimeSource::hw);
  EXPECT_EQ(layer_of({kernel(1, 1, 1), hw}).time_source, TimeSource::hw);
  KernelRow none = kernel(1, 1, 1);
  none.time_mean_ns.reset();
  none.time_total_ns.reset();
  none.time_source = TimeSource::unknown;
  EXPECT_EQ(layer_of({none}).time_source, TimeSource::unknown);
  EXPECT_EQ(*layer_of({none, kernel(1, 1, 1)}).coverage.time, 0.5);
}

}  // namespace
}  // namespace gable::tests

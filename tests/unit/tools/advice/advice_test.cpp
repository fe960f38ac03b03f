// SPDX-License-Identifier: Apache-2.0
// Advice is given for what was measured, with the saving that it could give, and not otherwise.
#include <gtest/gtest.h>

#include <functional>
#include <iterator>

#include "analysis/events/kernel_kind.h"
#include "analysis/roofline/link_roofs.h"
#include "analysis/roofline/occupancy.h"
#include "analysis/roofline/roofline.h"
#include "tests/unit/has_text.h"
#include "tests/unit/tools/advice/advice_fixture.h"

namespace gable::tests {
namespace {

TEST_F(AdviceTest, NothingIsAdvisedWhereNothingIsKnown) {
  EXPECT_TRUE(advise(Report()).empty());
  KernelRow& row = kernel("sgemm", 4e5, 1e5, 5e5);
  row.flops = Flops();
  Roofline(report.ceilings).apply(row);
  EXPECT_TRUE(ids().empty());
}

TEST_F(AdviceTest, ComputeOnCudaCoresMovesToTensorCores) {
  kernel("sgemm", 4e5, 5e4, 5e5);  // 80 % of the roof
  const Advice* advice = given("tensor_cores");
  ASSERT_NE(advice, nullptr);
  EXPECT_NEAR(*advice->saving_ns, 5e5 - 1e5 / 0.8,
              1);  // a quarter of the computing, as far from it
  EXPECT_EQ(advice->trigger,
            "100 % of the GPU time is FP32 work on CUDA cores; its roof is compute, not memory.");
  EXPECT_EQ(given("tensor_cores_fp64"), nullptr);
  report.ceilings.erase(report.ceilings.begin() + 1, report.ceilings.begin() + 3);
  EXPECT_EQ(given("tensor_cores"), nullptr);  // no such cores on this GPU
}

TEST_F(AdviceTest, WhatMultipliesNoMatricesHasNothingToDoOnTensorCores) {
  kernel("integrateBodies<float, true>", 8e5, 1e3, 8.75e5);
  EXPECT_EQ(given("tensor_cores"), nullptr);
  kernel("LSTM_elementWise_fp<float>", 3e4, 1e3, 3e4);
  EXPECT_EQ(given("tensor_cores"), nullptr);
  kernel("my_own", 4e5, 1e3, 4e5);
  EXPECT_EQ(given("tensor_cores"), nullptr);
  // The operators of its layer say that it does.
  report.layers[0].model.emplace().self.flops = *report.kernels.back().flops.total;
  report.kernels.erase(report.kernels.begin(), report.kernels.begin() + 2);
  ASSERT_NE(given("tensor_cores"), nullptr);
  EXPECT_EQ(given("tensor_cores")->kernels.at(0).name, "my_own");
  report.kernels[0].name = "sgemm";
  report.layers[0].model.reset();
  EXPECT_NE(given("tensor_cores"), nullptr);
}

TEST_F(AdviceTest, ItemsNameTheirLayersAndKernels) {
  for (int i = 1; i <= 5; ++i) {
    layer({"net", "fc" + std::to_string(i)});
    kernel(i < 3 ? "sgemm_small" : "sgemm_large", i * 1e4, 1e3, i * 1e4);
  }
  const Advice* advice = given("tensor_cores");
  ASSERT_NE(advice, nullptr);
  ASSERT_EQ(advice->layers.size(), 5u);
  EXPECT_EQ(advice->layers[0].name, "net/fc5");
  EXPECT_NEAR(advice->layers[0].saving_ns, 5e4 * 0.75, 1);
  EXPECT_NEAR(advice->layers[0].time_ns, 5e4, 1);
  EXPECT_EQ(advice->kernels[0].name, "sgemm_large");
  EXPECT_TRUE(advice->text().ends_with(
      " Layers: net/fc5, net/fc4, net/fc3 and 2 more. Kernels: sgemm_large, sgemm_small."))
      << advice->text();
  double sum = 0;
  for (const AdvicePlace& place : advice->layers) sum += place.saving_ns;
  EXPECT_NEAR(*advice->saving_ns, sum, 1);
}

TEST_F(AdviceTest, KernelsAreNamedByTheirFunction) {
  kernel("void at::native::(anonymous namespace)::my_gemm<float, 4>(float*, int)", 4e5, 1e3, 4e5);
  kernel("void at::native::(anonymous namespace)::my_gemm<float, 2>(float*, int)", 4e5, 1e3, 3e5);
  kernel("sgemm(float const*)", 2e5, 1e3, 2e5);
  kernel("int cutlass::Kernel<Gemm>(Params)", 1e5, 1e3, 1e5);
  EXPECT_TRUE(given("tensor_cores")->text().ends_with(" Kernels: my_gemm, sgemm, Kernel."))
      << given("tensor_cores")->text();
}

TEST_F(AdviceTest, NoItemSavesMoreThanTheStep) {
  for (int i = 0; i < 4; ++i) kernel("sgemm", 8e5, 1e3, 8e5);  // on streams side by side
  EXPECT_NEAR(*given("tensor_cores")->saving_ns, 1e6, 1);
}

TEST_F(AdviceTest, MemoryIsTheLimitOfWhatTensorCoresGive) {
  kernel("sgemm", 4e5, 3.8e5, 4e5);
  EXPECT_NEAR(*given("tensor_cores")->saving_ns, 2e4, 1);  // the bytes still take 0.38 ms
}

TEST_F(AdviceTest, Tf32MovesToSixteenBits) {
  kernel("gemm", 4e5, 1e4, 4e5, "tf32");
  EXPECT_NEAR(*given("lower_precision")->saving_ns, 2e5, 1);
  EXPECT_EQ(given("tensor_cores"), nullptr);
  EXPECT_NE(given("fewer_operations"), nullptr);  // at the roof: only less work helps beyond that
  EXPECT_FALSE(given("fewer_operations")->saving_ns);
}

TEST_F(AdviceTest, MemoryBoundKernelsOfALayerAreFused) {
  kernel("relu", 1e3, 1e5, 1e5);
  EXPECT_EQ(given("fuse"), nullptr);  // alone it has nothing to be fused with
  kernel("add", 1e3, 2e5, 2e5);
  EXPECT_NEAR(*given("fuse")->saving_ns, 1e5, 1);  // all but the longest
  layer({"net", "other"});
  report.kernels.back().layer = report.layers.back().id;
  EXPECT_EQ(given("fuse"), nullptr);  // in layers of their own
}

TEST_F(AdviceTest, KernelsWithoutALayerAreNotFused) {
  kernel("relu", 1e3, 1e5, 1e5);
  kernel("add", 1e3, 2e5, 2e5);
  ASSERT_NE(given("fuse"), nullptr);
  EXPECT_EQ(given("fuse")->kernels.at(0).name, "relu");  // the longest remains
  report.layers[0].path.clear();
  report.layers[0].depth = 0;
  EXPECT_EQ(given("fuse"), nullptr);
}

TEST_F(AdviceTest, AGridThatFillsTheGpuIsNotHelpedByALargerBatch) {
  KernelRow& row = kernel("transpose", 1e3, 1e5, 6e5);
  const auto of_blocks = [&](std::uint32_t blocks) {
    row.grid = {blocks, 1, 1};
    fill_waves(report.devices[0], row);
    Roofline(report.ceilings, kLatency).apply(row);
  };
  report.devices[0].compute_major = 9;
  row.registers = 32;  // 16 blocks of 128 threads on each of 100 SMs
  row.shared_bytes = 0;
  of_blocks(1599);
  EXPECT_NE(given("more_parallel_work"), nullptr);
  EXPECT_EQ(given("latency"), nullptr);
  of_blocks(1600);
  EXPECT_EQ(given("more_parallel_work"), nullptr);
  ASSERT_NE(given("latency"), nullptr);
  EXPECT_NEAR(*given("latency")->saving_ns, 5e5, 1);
  EXPECT_EQ(given("latency")->text().find("batch"), std::string::npos);
  of_blocks(65536);
  EXPECT_EQ(given("more_parallel_work"), nullptr);
  row.registers.reset();  // a block on each SM may be all that fits
  of_blocks(100);
  EXPECT_EQ(given("more_parallel_work"), nullptr);
  EXPECT_NE(given("latency"), nullptr);
  of_blocks(99);
  EXPECT_NE(given("more_parallel_work"), nullptr);
}

TEST_F(AdviceTest, AFullLastWaveSavesItsIdleShare) {
  KernelRow& row = kernel("sgemm", 4e5, 1e5, 8e5);
  row.waves = 1.25;  // 0.75 of two waves are idle: 37.5 %
  Roofline(report.ceilings, kLatency).apply(row);
  ASSERT_NE(given("tail"), nullptr);
  EXPECT_NEAR(*given("tail")->saving_ns, 3e5, 1);
  EXPECT_EQ(given("tail")->trigger,
            "100 % of the GPU time is kernels whose last wave leaves SMs without work.");
  row.waves = 1.95;
  Roofline(report.ceilings, kLatency).apply(row);
  EXPECT_EQ(given("tail"), nullptr);
}

TEST_F(AdviceTest, BytesFarFromTheirRoofAreUsedBetter) {
  kernel("gather", 1e3, 1e5, 3e5);
  EXPECT_NEAR(*given("tile")->saving_ns, 2e5, 1);
  EXPECT_EQ(given("strided_access"), nullptr);  // nobody counted sectors
  SetMetrics& metrics = report.kernels[0].metrics.emplace();
  metrics.sectors_per_load = 16;
  EXPECT_EQ(given("strided_access"), nullptr);  // coalesced, 16 bytes a thread
  metrics.sectors_per_load = 32;
  EXPECT_NEAR(*given("strided_access")->saving_ns, 2e5, 1);
  metrics.sectors_per_load = 4;
  metrics.sectors_per_store = 17;
  ASSERT_NE(given("strided_access"), nullptr);
  EXPECT_EQ(given("strided_access")->trigger,
            "100 % of the GPU time is memory-bound kernels with more than 16.0 L1 sectors for each "
            "load or store (coalesced access takes 4.00 at 4 bytes a thread, 16.0 at 16).");
  EXPECT_EQ(given("strided_access")->kernels[0].name, "gather");
}

// Each item by the figure that calls for it, at its threshold, and only where the bound says that
// it can matter.
TEST_F(AdviceTest, HowKernelsUseTheGpuCallsForAdviceWhereItCanMatter) {
  struct Case {
    const char* id;
    std::function<void(SetMetrics&)> just_not, just;
    bool waits, computes, memory;  // bounds for which it is given
  };
  const Case cases[] = {{"divergence", [](SetMetrics& m) { m.warp_efficiency = 0.75; },
                         [](SetMetrics& m) { m.warp_efficiency = 0.7; }, true, true, false},
                        {"index_arithmetic", [](SetMetrics& m) { m.mix["integer"] = 0.49; },
                         [](SetMetrics& m) { m.mix["integer"] = 0.5; }, true, true, false},
                        {"local_memory", [](SetMetrics& m) { m.memory_mix["local"] = 0.019; },
                         [](SetMetrics& m) { m.memory_mix["local"] = 0.02; }, true, false, true},
                        {"shared_memory", [](SetMetrics& m) { m.memory_mix["shared"] = 0.24; },
                         [](SetMetrics& m) { m.memory_mix["shared"] = 0.25; }, true, false, false},
                        {"occupancy", [](SetMetrics& m) { m.occupancy = 0.5; },
                         [](SetMetrics& m) { m.occupancy = 0.49; }, true, false, false}};
  for (const Case& each : cases) {
    const auto advised = [&](double compute_ns, double memory_ns, const auto& change) {
      report.kernels.clear();
      KernelRow& row = kernel("k", compute_ns, memory_ns, 1e5);
      row.flags.clear();  // its grid is not small
      Roofline(report.ceilings, kLatency).apply(row);
      change(row.metrics.emplace());
      return given(each.id) != nullptr;
    };
    EXPECT_EQ(advised(1e4, 1e3, each.just), each.waits) << each.id;
    EXPECT_EQ(advised(9e4, 1e3, each.just), each.computes) << each.id;
    EXPECT_EQ(advised(1e3, 9e4, each.just), each.memory) << each.id;
    EXPECT_FALSE(advised(1e4, 1e3, each.just_not)) << each.id;
    EXPECT_FALSE(advised(1e4, 1e3, [](SetMetrics&) {})) << each.id;  // not counted
    EXPECT_TRUE(advised(1e4, 1e3, each.just));
    const Advice& item = *given(each.id);
    EXPECT_FALSE(item.saving_ns) << each.id;  // nobody can tell
    EXPECT_NE(item.trigger.find("100 % of the GPU time is kernels"), std::string::npos) << each.id;
    ASSERT_EQ(item.kernels.size(), 1u);
    EXPECT_EQ(item.kernels[0].name, "k");
  }
}

TEST_F(AdviceTest, WhatLimitsOccupancyIsNamed) {
  report.devices[0].compute_major = 8;
  KernelRow& row = kernel("k", 1e4, 1e3, 1e5);
  row.grid = {100000, 1, 1};
  row.block = {256, 1, 1};
  row.registers = 128;  // 2 of 8 blocks
  row.shared_bytes = 0;
  fill_waves(report.devices[0], row);
  Roofline(report.ceilings, kLatency).apply(row);
  row.metrics.emplace().occupancy = 0.24;
  ASSERT_NE(given("occupancy"), nullptr);
  EXPECT_NE(
      given("occupancy")->trigger.find("What limits that number: registers (100 % of that time)."),
      std::string::npos)
      << given("occupancy")->trigger;
  EXPECT_EQ(given("uneven_blocks"), nullptr);
  row.registers = 32;  // all 8 blocks have room, and are not there
  EXPECT_EQ(given("occupancy"), nullptr);
  ASSERT_NE(given("uneven_blocks"), nullptr);
}

TEST_F(AdviceTest, KernelsAtTheMemoryRoofLeaveBandwidthAlone) {
  kernel("add", 1e3, 1e5, 1.2e5);
  ASSERT_NE(given("more_bandwidth"), nullptr);
  EXPECT_FALSE(given("more_bandwidth")->saving_ns);
  kernel("sgemm", 4e5, 5e4, 5e5);
  EXPECT_EQ(given("more_bandwidth"), nullptr);  // a fifth of the time is not much
}

TEST_F(AdviceTest, KernelsThatOnlyMoveDataAreNamed) {
  kernel("void cudnn::ops::nchwToNhwcKernel<float>()", 0, 9e4, 1e5);
  kernel("void at::native::unrolled_elementwise_kernel<direct_copy_kernel_cuda, LoadWithCast<1>>()",
         0, 9e4, 1e5);
  kernel("big", 1e5, 8e5, 8e5);
  EXPECT_NEAR(*given("layout_conversion")->saving_ns, 1e5, 1);
  EXPECT_EQ(given("layout_conversion")->trigger,
            "10.0 % of the GPU time is layout conversions, which compute nothing.");
  EXPECT_NEAR(*given("cast")->saving_ns, 1e5, 1);
  EXPECT_EQ(given("padding"), nullptr);
}

TEST_F(AdviceTest, EachKindOfKernelThatOnlyMovesDataHasItsRemedy) {
  kernel("void cudnn::ops::nchwToNhwcKernel<float>()", 0, 9e4, 1e5);
  kernel("at::native::bfloat16_copy_kernel_cuda()", 0, 9e4, 1e5);
  kernel("at::native::constant_pad_nd", 0, 9e4, 1e5);
  kernel("at::native::CatArrayBatchedCopy<float>", 0, 9e4, 1e5);
  kernel("big", 1e5, 6e5, 6e5);
  EXPECT_TRUE(has(given("layout_conversion")->text(), "Keep one layout"));
  EXPECT_TRUE(has(given("cast")->text(), "Keep data in one type"));
  EXPECT_TRUE(has(given("padding")->text(), "sizes that need no padding"));
  EXPECT_TRUE(has(given("copy")->text(), "Avoid copies"));
}

TEST_F(AdviceTest, UnfusedAttentionAndDecodingAreSeen) {
  layer({"net", "attn"});
  kernel("softmax_warp_forward", 1e3, 1e5, 1e5);
  EXPECT_NEAR(*given("fused_attention")->saving_ns, 1e5, 1);
  EXPECT_EQ(given("quantise"), nullptr);
  report.layers[0].tokens = Tokens{10, 8, 1, 1e6, 1e6};  // "net" makes one token after another
  EXPECT_NEAR(*given("quantise")->saving_ns, 5e4, 1);
  report.layers[0].tokens->per_sequence = 128;  // a prompt
  EXPECT_EQ(given("quantise"), nullptr);
}

TEST_F(AdviceTest, LatencyOverheadAndIdleTime) {
  kernel("tiny", 1e2, 1e2, 6e4, "fp32", 30);  // 2 us each, latency 4 us
  kernel("small", 1e4, 1e4, 1e5);             // a tenth of its roof
  EXPECT_EQ(given("idle"), nullptr);
  EXPECT_NEAR(*given("more_parallel_work")->saving_ns, 9e4, 1);
  EXPECT_NEAR(*given("fewer_launches")->saving_ns, 0, 1);  // the GPU never idles for them
  report.step.idle_ns = 3e5;
  EXPECT_NEAR(*given("fewer_launches")->saving_ns, 29 * kLatency, 1);
  EXPECT_NEAR(*given("idle")->saving_ns, 3e5, 1);
  EXPECT_EQ(ids().front(), "idle");  // the largest first
  EXPECT_TRUE(given("idle")->layers.empty());
}

TEST_F(AdviceTest, AnIdleGpuIsNamedAfterWhatTheHostIsBusyBefore) {
  kernel("work", 4e5, 1e5, 5e5);
  layer({"net", "in"});
  layer({"net", "out"});
  report.layers[1].parent = report.layers[2].parent = 0;
  report.layers[0].host_path_ns = 2.6e5;
  report.layers[1].host_path_ns = 0.5e5;
  report.layers[2].host_path_ns = 2e5;
  report.step.idle_ns = 3e5;
  report.step.graph.emplace().wall_ns = 1e6;
  ASSERT_NE(given("idle"), nullptr);
  EXPECT_TRUE(given("idle")->text().ends_with(
      " The host is busy before it launches: net/out, net/in, net."))
      << given("idle")->text();
  EXPECT_NEAR(given("idle")->layers.at(2).time_ns, 1e4, 1);  // its own
  report.step.idle_ns = 1.5e5;
  EXPECT_NEAR(given("idle")->layers.at(0).time_ns, 2e5, 1);
  EXPECT_NEAR(given("idle")->layers.at(0).saving_ns, 1.5e5, 1);  // no more than the item's
}

TEST_F(AdviceTest, CopiesWaitsAndCommunication) {
  kernel("work", 4e5, 1e5, 5e5);
  report.step.idle_ns = 8e4;
  report.step.copy_ns = 4e4;
  EXPECT_EQ(given("copies"), nullptr);
  report.step.copy_ns = 6e4;
  EXPECT_NEAR(*given("copies")->saving_ns, 6e4, 1);
  EXPECT_TRUE(given("copies")->layers.empty());
  report.step.idle_ns = 1e4;  // the rest runs beside kernels
  EXPECT_EQ(given("copies"), nullptr);
  report.step.idle_ns = 8e4;
  for (const double time : {1e4, 2e4}) {
    CopyRow& copy = report.copies.emplace_back();
    copy.layer = 0;
    copy.time_ns = time;
    copy.direction = Direction::none;
  }
  EXPECT_TRUE(given("copies")->text().ends_with(" Layers: net.")) << given("copies")->text();
  EXPECT_EQ(given("copies")->layers.at(0).time_ns, 3e4);
  kernel("ncclDevKernel_AllReduce", 0, 1e4, 1e5);
  EXPECT_NEAR(*given("communication")->saving_ns, 1e5, 1);
  report.layers[0].span_ns = 5e5;
  report.layers[0].sync_ns = 1e5;
  report.step.idle_ns = 1e4;
  EXPECT_EQ(given("waits"), nullptr);  // the GPU is busy meanwhile
  report.step.idle_ns = 2e5;
  EXPECT_EQ(given("waits")->trigger, "The host waits for 100 us in net, 20.0 % of its span.");
}

TEST_F(AdviceTest, CopiesSayWhatMemoryAndWhichLink) {
  kernel("work", 4e5, 1e5, 5e5);
  report.step.idle_ns = 8e4;
  report.step.copy_ns = 6e4;
  DeviceInfo device;
  device.links.pcie = {4, 16};
  report.devices = {device};
  const auto copy = [&](CopyKind kind, HostMemory memory, Maybe bytes, double time) {
    CopyRow& row = report.copies.emplace_back();
    row.kind = kind;
    row.host_memory = memory;
    row.bytes = bytes;
    row.time_ns = time;
    row.direction = Direction::none;
    fill_link_roofs(report);
  };
  copy(CopyKind::host_to_device, HostMemory::pageable, 3.1508e5, 2e4);  // half of the roof
  copy(CopyKind::device_to_device, HostMemory::unknown, 1e9, 1e4);
  const auto pageable = *given("copies");
  EXPECT_TRUE(pageable.action.starts_with("Copy from pinned memory")) << pageable.action;
  EXPECT_EQ(pageable.trigger,
            "Copies take 6.00 % of a step; between host and GPU, copies from or to pageable memory "
            "take 100 % of the time. They reach 15.8 GB/s, 50.0 % of PCIe's 31.5 GB/s.");
  report.copies[0].host_memory = HostMemory::pinned;
  EXPECT_TRUE(given("copies")->text().ends_with("is pinned already.")) << given("copies")->text();
  EXPECT_EQ(given("copies")->trigger,
            "Copies take 6.00 % of a step. They reach 15.8 GB/s, 50.0 % of PCIe's 31.5 GB/s.");
  for (const HostMemory other : {HostMemory::unknown, HostMemory::managed}) {
    report.copies[0].host_memory = other;
    EXPECT_TRUE(given("copies")->text().starts_with("Overlap copies with computing: pinned"));
  }
  report.devices[0].links = {};
  fill_link_roofs(report);
  EXPECT_EQ(given("copies")->trigger, "Copies take 6.00 % of a step. They reach 15.8 GB/s.");
  copy(CopyKind::device_to_host, HostMemory::pinned, {}, 1e3);
  EXPECT_EQ(given("copies")->trigger, "Copies take 6.00 % of a step.") << "of one nobody knows";
}

TEST_F(AdviceTest, CollectivesSayHowMuchOfTheirLinkTheyReach) {
  kernel("work", 4e5, 1e5, 5e5);
  kernel("ncclDevKernel_AllReduce", 0, 1e4, 1e5);
  DeviceInfo device;
  device.links.nvlinks = 18;
  device.links.nvlink_version = 4;
  report.devices = {device};
  EXPECT_EQ(given("communication")->trigger, "16.7 % of the GPU time is collectives.");
  CollectiveRow& message = report.kernels.back().collective.emplace();
  message.one_node = true;
  message.bus_bytes = 4.5e6 * *report.kernels.back().time_mean_ns / 1e5;  // 45 GB/s
  fill_link_roofs(report);
  EXPECT_EQ(given("communication")->trigger,
            "16.7 % of the GPU time is collectives. They reach 45.0 GB/s on the bus, waiting for "
            "other ranks included, 10.0 % of NVLink's 450 GB/s.");
}

TEST_F(AdviceTest, WhoWaitsForARankIsNotToldToSendLess) {
  kernel("work", 4e5, 1e5, 5e5);
  kernel("ncclDevKernel_AllReduce", 0, 1e4, 1e5);
  CollectiveRow& message = report.kernels.back().collective.emplace();
  const double time = *report.kernels.back().time_mean_ns;
  report.kernels.back().time_total_ns = time * report.kernels.back().launches;
  message.bus_bytes = 100;
  const auto waits = [&](double first, double second) {
    const double share = (first + second) / 2;
    message.wait_ns = share * time;
    message.transfer_ns = (1 - share) * time;
    fill_link_roofs(report);
    report.run.processes.clear();
    for (const double each : {first, second}) {
      MergedProcess& process = report.run.processes.emplace_back();
      process.rank = static_cast<std::int64_t>(report.run.processes.size());
      process.collectives =
          CollectiveTimes{1e5, each * 1e5, (1 - each) * 1e5, (first + second - each) * 1e5};
    }
  };
  waits(0.8, 0.7);
  EXPECT_TRUE(given("communication")->text().starts_with("Even out the ranks: the same amount"));
  EXPECT_TRUE(given("communication")
                  ->trigger.starts_with("16.7 % of the GPU time is collectives, 75.0 % of that "
                                        "waiting for other ranks. They reach "))
      << given("communication")->trigger;
  EXPECT_TRUE(given("communication")->trigger.ends_with(" on the bus in transfer."));
  waits(0.95, 0.1);
  EXPECT_TRUE(given("communication")->text().starts_with("Even out the ranks: find what rank 2 "))
      << given("communication")->text();
  waits(0.3, 0.1);
  EXPECT_TRUE(given("communication")->text().starts_with("Hide communication behind computing"));
}

// Every item whose action could name what PyTorch alone has.
class AdviceByProgram : public AdviceTest {
 protected:
  static constexpr const char* kOfTorch[] = {"torch", "DataLoader", ".item()", "contiguous()",
                                             "mixed precision"};
  static constexpr const char* kOfTraining[] = {"gradient", "DistributedDataParallel",
                                                "bucket_cap_mb", "optim"};

  AdviceByProgram() {
    kernel("sgemm", 2e5, 1e4, 2e5);
    kernel("nchwToNhwcKernel", 0, 4e4, 5e4);
    kernel("catarraybatchedcopy", 0, 4e4, 5e4);
    kernel("elementwise", 1e3, 4e4, 5e4);
    kernel("softmax", 1e3, 4e4, 5e4);
    kernel("ncclDevKernel_AllReduce", 0, 1e4, 2e5);
    kernel("tiny", 1e2, 1e2, 6e4, "fp32", 30);
    report.step.idle_ns = 3e5;
    report.step.copy_ns = 2e5;
    report.layers[0].span_ns = 5e5;
    report.layers[0].sync_ns = 1e5;
  }

  std::string actions() {
    std::string text;
    for (const Advice& each : advise(report)) text += each.action + "\n";
    return text;
  }
  template <std::size_t N>
  static std::size_t named(const std::string& text, const char* const (&words)[N]) {
    return static_cast<std::size_t>(
        std::count_if(std::begin(words), std::end(words),
                      [&](const char* word) { return text.find(word) != std::string::npos; }));
  }
};

TEST_F(AdviceByProgram, WithoutPyTorchNothingOfItIsNamed) {
  for (const Direction direction : {Direction::none, Direction::backward}) {
    report.layers[0].direction = direction;  // JAX's layers have one, too
    const std::string text = actions();
    for (const char* id : {"tensor_cores", "fuse", "layout_conversion", "copy", "fewer_launches",
                           "idle", "copies", "communication", "waits"})
      EXPECT_NE(given(id), nullptr) << id;
    EXPECT_EQ(named(text, kOfTorch), 0U) << text;
    EXPECT_EQ(named(text, kOfTraining), 0U) << text;
  }
}

TEST_F(AdviceByProgram, PyTorchIsKnownByWhatOnlyItLeaves) {
  const Report plain = report;
  const std::vector<std::function<void()>> signs = {
      [&] { report.run.steps.border = "optimizer"; },
      [&] { report.run.steps.border = "forward"; },
      [&] { report.layers[0].dotted = "net"; },
      [&] { report.layers[0].model.emplace(); },
      [&] { report.layers[0].compiled.emplace(); },
      [&] { report.kernels[3].name = "void at::native::elementwise_kernel<4>()"; },
      [&] {
        report.run.notes = {"Imported: times from PyTorch's profiler (a.json); no counters."};
      },
  };
  for (std::size_t i = 0; i < signs.size(); ++i) {
    report = plain;
    signs[i]();
    const std::string text = actions();
    EXPECT_EQ(named(text, kOfTorch), std::size(kOfTorch)) << i << text;
  }
}

TEST_F(AdviceByProgram, WhatOnlyInfersIsToldNothingOfGradients) {
  report.run.steps.border = "forward";
  EXPECT_EQ(named(actions(), kOfTraining), 0U) << actions();
  layer({"net", "out"});
  report.layers.back().direction = Direction::backward;
  EXPECT_EQ(named(actions(), kOfTraining), std::size(kOfTraining)) << actions();
  report.layers.back().direction = Direction::forward;
  report.run.steps.border = "range";
  report.layers.back().dotted = "out";
  EXPECT_EQ(named(actions(), kOfTraining), 0U) << actions();
  report.layers.back().direction = Direction::none;  // of which nobody knows
  EXPECT_EQ(named(actions(), kOfTraining), std::size(kOfTraining)) << actions();
}

TEST(KernelKind, NamesOfPyTorchAndCudnn) {
  EXPECT_EQ(kind_of_kernel("void cudnn::ops::nhwcToNchwKernel<__half>()"), KernelKind::layout);
  EXPECT_EQ(kind_of_kernel("at::native::bfloat16_copy_kernel_cuda()"), KernelKind::cast);
  EXPECT_EQ(kind_of_kernel("at::native::constant_pad_nd"), KernelKind::padding);
  EXPECT_EQ(kind_of_kernel("elementwise_kernel<direct_copy_kernel_cuda(at::TensorIteratorBase&)>"),
            KernelKind::copy);
  EXPECT_EQ(kind_of_kernel("sm80_xmma_fprop_implicit_gemm_f32_nchwkcrs_nchw"), KernelKind::other);
  EXPECT_EQ(kind_of_kernel("gemm_with_transpose"), KernelKind::other);
  EXPECT_EQ(kind_of_kernel(""), KernelKind::other);
}

}  // namespace
}  // namespace gable::tests

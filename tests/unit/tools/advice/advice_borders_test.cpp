// SPDX-License-Identifier: Apache-2.0
// From which share on each item is given: on both sides of its threshold.
#include "analysis/roofline/link_roofs.h"
#include "tests/unit/tools/advice/advice_fixture.h"

namespace gable::tests {
namespace {

class AdviceBorders : public AdviceTest {
 protected:
  // Whether kernels of these times give the item.
  bool of(const char* id, const std::string& name, double compute, double memory, double time,
          const std::string& type = "fp32") {
    report.kernels.clear();
    kernel(name, compute, memory, time, type).flags.clear();
    Roofline(report.ceilings, kLatency).apply(report.kernels[0]);
    const Advice* advice = given(id);
    if (advice != nullptr) {
      EXPECT_EQ(advice->kernels.size(), 1u) << id;
    }
    return advice != nullptr;
  }
};

// 2 % of the step are 20 us.
TEST_F(AdviceBorders, SavingsOfTwoInAHundred) {
  EXPECT_TRUE(of("tensor_cores", "sgemm", 26.8e3, 1e3, 26.8e3));  // three quarters
  EXPECT_FALSE(of("tensor_cores", "sgemm", 26.5e3, 1e3, 26.5e3));
  EXPECT_TRUE(of("lower_precision", "gemm", 40.1e3, 1e3, 40.1e3, "tf32"));  // a half
  EXPECT_FALSE(of("lower_precision", "gemm", 39.9e3, 1e3, 39.9e3, "tf32"));
  EXPECT_TRUE(of("tile", "gather", 1e3, 20e3, 40.1e3));
  EXPECT_FALSE(of("tile", "gather", 1e3, 20e3, 39.9e3));
  EXPECT_TRUE(of("latency", "k", 2e3, 1e3, 22.1e3));
  EXPECT_FALSE(of("latency", "k", 2e3, 1e3, 21.9e3));
  EXPECT_TRUE(of("cast", "bfloat16_copy_kernel_cuda", 0, 9e3, 20.1e3));
  EXPECT_FALSE(of("cast", "bfloat16_copy_kernel_cuda", 0, 9e3, 19.9e3));
  layer({"net", "att"});
  EXPECT_TRUE(of("fused_attention", "cunn_SoftMaxForward", 1e3, 9e3, 20.1e3));
  EXPECT_FALSE(of("fused_attention", "cunn_SoftMaxForward", 1e3, 9e3, 19.9e3));
  EXPECT_FALSE(of("fused_attention", "cunn_SoftMaxForward", 19e3, 9e3, 20.1e3));
  EXPECT_FALSE(of("fused_attention", "add", 1e3, 9e3, 20.1e3));
  report.layers[1].tokens = Tokens{10, 8, 1, 1e6, 1e6};
  EXPECT_TRUE(of("quantise", "add", 1e3, 20e3, 40.1e3));
  EXPECT_FALSE(of("quantise", "add", 1e3, 20e3, 39.9e3));
  EXPECT_FALSE(of("quantise", "add", 30e3, 20e3, 40.1e3));
  layer({"net"});  // not within the one that decodes
  EXPECT_FALSE(of("quantise", "add", 1e3, 20e3, 40.1e3));
  layer({"net", "att", "q"});
  EXPECT_TRUE(of("quantise", "add", 1e3, 20e3, 40.1e3));
  report.layers[1].path = {"other", "att"};
  EXPECT_FALSE(of("quantise", "add", 1e3, 20e3, 40.1e3));
  report.kernels[0].layer = 77;
  EXPECT_EQ(given("quantise"), nullptr);
}

TEST_F(AdviceBorders, NearARoof) {
  // 60 % of the compute roof, in a quarter of the GPU's time.
  EXPECT_TRUE(of("fewer_operations", "sgemm", 60.1e3, 1e3, 100e3));
  EXPECT_FALSE(of("fewer_operations", "sgemm", 59.9e3, 1e3, 100e3));
  EXPECT_FALSE(of("fewer_operations", "sgemm", 1e3, 90e3, 100e3));
  of("fewer_operations", "sgemm", 90e3, 1e3, 100e3);
  kernel("k", 0, 0, 299e3);
  ASSERT_NE(given("fewer_operations"), nullptr);
  EXPECT_NE(given("fewer_operations")->trigger.find("25.1 %"), std::string::npos);
  EXPECT_NE(given("fewer_operations")->trigger.find("60.0 %"), std::string::npos);
  kernel("k", 0, 0, 2e3);
  EXPECT_EQ(given("fewer_operations"), nullptr);
  // 75 % of the memory roof, likewise.
  EXPECT_TRUE(of("more_bandwidth", "add", 1e3, 75.1e3, 100e3));
  EXPECT_FALSE(of("more_bandwidth", "add", 1e3, 74.9e3, 100e3));
  EXPECT_TRUE(of("tile", "add", 1e3, 74.9e3, 100e3));
  EXPECT_FALSE(of("tile", "add", 1e3, 75.1e3, 100e3));
  of("more_bandwidth", "add", 1e3, 90e3, 100e3);
  kernel("k", 0, 0, 299e3);
  EXPECT_NE(given("more_bandwidth"), nullptr);
  kernel("k", 0, 0, 2e3);
  EXPECT_EQ(given("more_bandwidth"), nullptr);
}

TEST_F(AdviceBorders, ExactlyAtTheBorder) {
  EXPECT_TRUE(of("cast", "bfloat16_copy_kernel_cuda", 0, 9e3, 20e3));
  EXPECT_TRUE(of("fewer_operations", "sgemm", 60e3, 1e3, 100e3));
  EXPECT_TRUE(of("more_bandwidth", "add", 1e3, 75e3, 100e3));
  EXPECT_FALSE(of("tile", "add", 1e3, 75e3, 100e3));
  kernel("k", 0, 0, 300e3);
  EXPECT_NE(given("more_bandwidth"), nullptr);  // a quarter of the time
  of("fewer_operations", "sgemm", 60e3, 1e3, 100e3);
  kernel("k", 0, 0, 300e3);
  EXPECT_NE(given("fewer_operations"), nullptr);
  report.kernels.resize(1);
  kernel("ncclDevKernel_AllReduce", 0, 1e3, 100e3);
  report.kernels[0].time_mean_ns = report.kernels[0].time_total_ns = 900e3;
  EXPECT_NE(given("communication"), nullptr);
  layer({"net", "att"});
  EXPECT_TRUE(of("fused_attention", "cunn_SoftMaxForward", 1e3, 9e3, 20e3));
}

TEST_F(AdviceBorders, WhatWouldBeLeftUnderAnotherRoof) {
  EXPECT_TRUE(of("tensor_cores", "sgemm", 80e3, 30e3, 100e3));
  // 80 us become 20, less than the 30 of the bytes; both at 80 % of their roof.
  EXPECT_NEAR(*given("tensor_cores")->saving_ns, 100e3 - 30e3 / 0.8, 1);
  EXPECT_TRUE(of("tensor_cores", "sgemm", 100e3, 30e3, 80e3));  // above the roof: not the less
  EXPECT_NEAR(*given("tensor_cores")->saving_ns, 80e3 - 30e3, 1);
  EXPECT_FALSE(of("tensor_cores", "sgemm", 0, 0, 100e3));
  report.ceilings[1].value = kFp32;  // no faster
  EXPECT_FALSE(of("tensor_cores", "sgemm", 80e3, 30e3, 100e3));
  report.ceilings[1] = {0, CeilingKind::compute, "fp16_tensor", kTf32, "theoretical"};
  EXPECT_TRUE(of("tensor_cores", "sgemm", 80e3, 30e3, 100e3));
  report.ceilings.push_back({0, CeilingKind::compute, "fp8_tensor", 2 * kBf16, "theoretical"});
  EXPECT_TRUE(of("lower_precision_8", "gemm", 80e3, 1e3, 100e3, "bf16"));
  EXPECT_NEAR(*given("lower_precision_8")->saving_ns, 50e3, 1);
}

TEST_F(AdviceBorders, Fusion) {
  const auto two = [&](double first, double second, double launches = 1) {
    report.kernels.clear();
    kernel("relu", 1e2, first, first, "fp32", launches);
    if (second > 0) kernel("add", 1e2, second, second, "fp32");
    const Advice* advice = given("fuse");
    return advice == nullptr ? 0 : *advice->saving_ns;
  };
  EXPECT_NEAR(two(20.1e3, 50e3), 20.1e3, 1);
  EXPECT_NEAR(given("fuse")->layers.at(0).saving_ns, 20.1e3, 1);
  EXPECT_NE(given("fuse")->trigger.find("100 %"), std::string::npos);
  EXPECT_NE(given("fuse")->trigger.find("(1 layer)"), std::string::npos);
  EXPECT_EQ(two(19.9e3, 50e3), 0);
  EXPECT_EQ(two(50e3, 0, 2), 0);  // one kernel alone
  EXPECT_NEAR(two(50e3, 50e3), 50e3, 1);
  EXPECT_NEAR(given("fuse")->kernels.at(0).saving_ns, 50e3, 1);
  EXPECT_EQ(given("fuse")->kernels.at(1).saving_ns, 0);  // one of equal ones remains
  layer({"net", "other"});
  kernel("mul", 1e2, 30e3, 30e3);
  kernel("div", 1e2, 30e3, 30e3);
  EXPECT_NEAR(*given("fuse")->saving_ns, 80e3, 1);
  EXPECT_NE(given("fuse")->trigger.find("(2 layers)"), std::string::npos);
  report.kernels.resize(2);
  report.kernels[0].name = "sgemm";
  EXPECT_EQ(given("fuse"), nullptr);
  report.kernels[0].name = "bfloat16_copy_kernel_cuda";
  EXPECT_EQ(given("fuse"), nullptr);
}

TEST_F(AdviceBorders, LaunchesShorterThanTheirLatency) {
  report.step.idle_ns = 1e6;
  kernel("tiny", 1e2, 1e2, 20e3, "fp32", 10);
  kernel("big", 500e3, 1e3, 979e3);
  ASSERT_NE(given("fewer_launches"), nullptr);          // 2.002 % of the GPU's time
  EXPECT_EQ(given("fewer_launches")->saving_ns, 36e3);  // one of the ten remains
  EXPECT_EQ(given("fewer_launches")->kernels.at(0).name, "tiny");
  EXPECT_EQ(given("fewer_launches")->trigger.find("10.0 launches a step"), 0u);
  report.step.idle_ns = 30e3;
  EXPECT_EQ(given("fewer_launches")->saving_ns, 30e3);
  report.step.copy_ns = 10e3;  // the GPU may idle for their sake
  EXPECT_EQ(given("fewer_launches")->saving_ns, 20e3);
  report.step.copy_ns.reset();
  report.run.unit = Unit::run;
  EXPECT_FALSE(given("fewer_launches")->saving_ns);
  report.kernels[1].time_mean_ns = report.kernels[1].time_total_ns = 981e3;
  EXPECT_EQ(given("fewer_launches"), nullptr);
  report.kernels.clear();
  kernel("tiny", 1e2, 1e2, 3e3);  // the only launch of a step cannot be spared
  EXPECT_EQ(given("fewer_launches"), nullptr);
}

TEST_F(AdviceBorders, SmallGridsAndTails) {
  KernelRow& row = kernel("k", 2e3, 1e3, 22.1e3);
  row.flags = {"small_grid"};
  Roofline(report.ceilings, kLatency).apply(row);
  ASSERT_NE(given("more_parallel_work"), nullptr);
  EXPECT_NEAR(*given("more_parallel_work")->saving_ns, 20.1e3, 1);
  EXPECT_EQ(given("more_parallel_work")->kernels.size(), 1u);
  EXPECT_NE(given("more_parallel_work")->trigger.find("25.0 %"), std::string::npos);
  row.time_mean_ns = row.time_total_ns = 21.9e3;
  Roofline(report.ceilings, kLatency).apply(row);
  EXPECT_EQ(given("more_parallel_work"), nullptr);
  report.kernels.clear();
  KernelRow& tail = kernel("sgemm", 25e3, 1e3, 53.4e3);
  tail.waves = 1.25;  // 37.5 %
  Roofline(report.ceilings, kLatency).apply(tail);
  ASSERT_NE(given("tail"), nullptr);
  EXPECT_NEAR(*given("tail")->saving_ns, 20.0e3, 30);
  EXPECT_EQ(given("tail")->kernels.size(), 1u);
  tail.time_mean_ns = tail.time_total_ns = 53.2e3;
  EXPECT_EQ(given("tail"), nullptr);
  tail.time_mean_ns = tail.time_total_ns = 100e3;
  EXPECT_NE(given("tail"), nullptr);
  tail.flags.clear();
  EXPECT_EQ(given("tail"), nullptr);
}

TEST_F(AdviceBorders, AHostThatTakesLongerThanItsKernels) {
  kernel("work", 400e3, 100e3, 500e3);
  report.step.wall_mean_ns.reset();
  report.step.idle_ns.reset();
  report.step.host_mean_ns = 800e3;
  report.step.sync_ns = 100e3;
  ASSERT_NE(given("idle"), nullptr);
  EXPECT_EQ(given("idle")->saving_ns, 200e3);  // at least: it waits for 100 us of the rest
  report.step.copy_ns = 50e3;
  EXPECT_EQ(given("idle")->saving_ns, 150e3);
  report.step.sync_ns = 171e3;
  EXPECT_EQ(given("idle"), nullptr);
  report.step.sync_ns = 0;
  report.run.unit = Unit::run;
  EXPECT_EQ(given("idle"), nullptr);
}

TEST_F(AdviceBorders, IdleTimeThatIsTheHosts) {
  kernel("work", 400e3, 100e3, 500e3);
  report.step.idle_ns = 100e3;
  ASSERT_NE(given("idle"), nullptr);
  EXPECT_NE(given("idle")->trigger.find("10.0 %"), std::string::npos);
  report.step.idle_ns = 99e3;
  EXPECT_EQ(given("idle"), nullptr);
  report.step.idle_ns = 300e3;
  report.step.critical_path.emplace().host_ns = 60e3;
  report.step.critical_path->launches_ns = 50e3;
  EXPECT_EQ(given("idle")->saving_ns, 300e3);  // what is exposed was not worked out
  report.step.exposed.emplace().idle_ns = 300e3;
  report.step.exposed->without.host = {0, 900e3};
  EXPECT_EQ(given("idle")->saving_ns, 110e3);
  EXPECT_NE(given("idle")->trigger.find("30.0 %"), std::string::npos);
  report.step.critical_path->host_ns = 49e3;
  EXPECT_EQ(given("idle"), nullptr);
  report.step.critical_path->host_ns = 900e3;
  EXPECT_EQ(given("idle")->saving_ns, 300e3);
  report.step.exposed->idle_ns = 280e3;  // the rest is copies that nothing hides
  EXPECT_EQ(given("idle")->saving_ns, 280e3);
  report.step.exposed->without.host = {0, 200e3};  // replayed; launches take 50 us more
  EXPECT_EQ(given("idle")->saving_ns, 250e3);
  report.step.idle_ns.reset();
  EXPECT_EQ(given("idle"), nullptr);
  report.step.idle_ns = 300e3;
  report.run.unit = Unit::run;
  EXPECT_EQ(given("idle"), nullptr);
}

TEST_F(AdviceBorders, InputThatTheProgramWaitsForIsApartFromTheRestOfTheHost) {
  kernel("at::native::work", 400e3, 100e3, 500e3);
  report.step.idle_ns = 400e3;
  report.step.critical_path.emplace().host_ns = 350e3;
  report.step.exposed.emplace().idle_ns = 400e3;
  report.step.exposed->without.host = {0, 350e3};
  EXPECT_EQ(given("input"), nullptr);
  EXPECT_NE(given("idle")->text().find("DataLoader"), std::string::npos);
  // By replay faster loading gives less: something else holds the step then.
  report.step.critical_path->input_ns = 240e3;
  report.step.exposed->without.input = StepSaving{90e3, 100e3};
  ASSERT_NE(given("input"), nullptr);
  EXPECT_EQ(given("input")->saving_ns, 100e3);
  EXPECT_NE(given("input")->trigger.find("24.0 %"), std::string::npos);
  EXPECT_EQ(given("idle")->saving_ns, 110e3);
  EXPECT_EQ(given("idle")->text().find("DataLoader"), std::string::npos);
  report.step.critical_path->input_ns = 251e3;
  report.step.exposed->without.input = StepSaving{0, 99e3};
  EXPECT_EQ(given("input"), nullptr);
  EXPECT_EQ(given("idle"), nullptr);
  report.step.exposed->without.input = StepSaving{0, 100e3};
  report.run.unit = Unit::run;
  EXPECT_EQ(given("input"), nullptr);
}

TEST_F(AdviceBorders, CopiesThatNothingHides) {
  kernel("work", 400e3, 100e3, 500e3);
  report.step.idle_ns = 80e3;
  report.step.copy_ns = 50e3;
  ASSERT_NE(given("copies"), nullptr);
  EXPECT_NE(given("copies")->trigger.find("5.00 %"), std::string::npos);
  report.step.copy_ns = 49e3;
  EXPECT_EQ(given("copies"), nullptr);
  report.step.copy_ns = 90e3;
  EXPECT_EQ(given("copies")->saving_ns, 80e3);
  report.step.idle_ns.reset();
  EXPECT_EQ(given("copies")->saving_ns, 90e3);
  report.step.exposed.emplace().without.copies = {0, 60e3};
  EXPECT_EQ(given("copies")->saving_ns, 60e3);
  report.step.copy_ns.reset();
  EXPECT_EQ(given("copies"), nullptr);
  report.step.copy_ns = 0;
  EXPECT_EQ(given("copies"), nullptr);
  report.step.copy_ns = 0.5;
  EXPECT_NE(given("copies"), nullptr);
}

TEST_F(AdviceBorders, CopiesOfARunWithoutSteps) {
  kernel("work", 400e3, 100e3, 500e3);
  report.run.unit = Unit::run;
  report.copies.emplace_back().time_ns = 20e3;
  EXPECT_EQ(given("copies"), nullptr);
  report.copies.emplace_back().time_ns = 3e6;
  CopyRow& beside = report.copies.emplace_back();  // another GPU copies at the same time
  beside.device = 1;
  beside.time_ns = 2e6;
  ASSERT_NE(given("copies"), nullptr);
  EXPECT_EQ(given("copies")->saving_ns, 3.02e6);  // more than all kernels take
  EXPECT_NE(
      given("copies")->trigger.find(
          "Copies take 3.02 ms a run and kernels 500 us; whether kernels hide them is unknown"),
      std::string::npos);
}

TEST_F(AdviceBorders, CommunicationThatNothingHides) {
  kernel("work", 400e3, 100e3, 900e3);
  kernel("ncclDevKernel_AllReduce", 0, 1e3, 100.1e3);
  ASSERT_NE(given("communication"), nullptr);
  EXPECT_EQ(given("communication")->saving_ns, 100.1e3);
  EXPECT_EQ(given("communication")->kernels.size(), 1u);
  report.kernels[1].time_mean_ns = report.kernels[1].time_total_ns = 99e3;
  EXPECT_EQ(given("communication"), nullptr);
  report.kernels[1].time_mean_ns = report.kernels[1].time_total_ns = 300e3;
  report.step.exposed.emplace().without.communication = {0, 20e3};
  EXPECT_EQ(given("communication")->saving_ns, 20e3);
  report.step.exposed->without.communication.high_ns = 19e3;
  EXPECT_EQ(given("communication"), nullptr);
  // Without what is exposed, the share of the GPU's time alone decides.
  report.step.exposed.reset();
  report.step.wall_mean_ns = 1e9;
  EXPECT_NE(given("communication"), nullptr);
}

TEST_F(AdviceBorders, WaitsOfTheHost) {
  kernel("work", 400e3, 100e3, 500e3);
  layer({"net", "a"});
  layer({"net", "b"});
  layer({});
  for (LayerRow& row : report.layers) {
    row.span_ns = 200e3;
    row.sync_ns = 0;
  }
  report.step.idle_ns = 50e3;
  EXPECT_EQ(given("waits"), nullptr);
  report.layers[3].sync_ns = 150e3;  // the root: it says nothing
  EXPECT_EQ(given("waits"), nullptr);
  const auto waits_in = [&] {
    const Advice* advice = given("waits");
    if (advice == nullptr) return std::string();
    const std::size_t at = advice->trigger.find(" in ") + 4;
    return advice->trigger.substr(at, advice->trigger.find(',') - at);
  };
  report.layers[0].sync_ns = report.layers[1].sync_ns = 30e3;
  EXPECT_EQ(waits_in(), "net/a");  // the inner one of two
  EXPECT_NE(given("waits")->trigger.find("30.0 us"), std::string::npos);
  EXPECT_NE(given("waits")->trigger.find("15.0 %"), std::string::npos);
  report.layers[2].sync_ns = 31e3;
  EXPECT_EQ(waits_in(), "net/b");
  report.layers[0].sync_ns = 40e3;
  EXPECT_EQ(waits_in(), "net");
  report.layers[0].span_ns = 400e3;  // a tenth, and no more
  EXPECT_EQ(waits_in(), "net/b");
  report.layers[0].span_ns.reset();
  EXPECT_EQ(waits_in(), "net/b");
  report.layers[0].span_ns = 0;
  EXPECT_EQ(waits_in(), "net/b");
  report.layers[2].sync_ns.reset();
  EXPECT_EQ(waits_in(), "net/a");
  report.layers[1].span_ns = 100e3;
  report.layers[1].sync_ns = 20e3;
  EXPECT_EQ(waits_in(), "net/a");
  report.layers[1].sync_ns = 19e3;
  EXPECT_EQ(waits_in(), "");
  report.layers[1].sync_ns = 20e3;
  report.step.idle_ns = 49e3;
  EXPECT_EQ(waits_in(), "");
  report.step.idle_ns = 50e3;
  report.run.unit = Unit::run;
  EXPECT_EQ(waits_in(), "");
}

TEST_F(AdviceBorders, WaitsOfRecordedStepsAreScoredByReplay) {
  kernel("at::native::work", 400e3, 100e3, 500e3);
  report.step.idle_ns = 400e3;
  report.step.critical_path.emplace().host_ns = 350e3;
  report.step.exposed.emplace().idle_ns = 400e3;
  report.step.exposed->without.host = {0, 350e3};
  EXPECT_EQ(given("waits"), nullptr);
  EXPECT_NE(given("idle")->text().find(".item()"), std::string::npos);
  report.step.critical_path->waits_ns = 200e3;
  report.step.exposed->without.waits = StepSaving{150e3, 180e3};
  ASSERT_NE(given("waits"), nullptr);
  EXPECT_EQ(given("waits")->saving_ns, 180e3);
  EXPECT_NE(given("waits")->trigger.find("200 us of a step (20.0 %)"), std::string::npos);
  EXPECT_NE(given("waits")->text().find(".item()"), std::string::npos);
  // What is left is Python's between launches.
  EXPECT_EQ(given("idle")->saving_ns, 170e3);
  EXPECT_EQ(given("idle")->text().find(".item()"), std::string::npos);
  EXPECT_NE(given("idle")->trigger.find("170 us of a step is the host's work between launches"),
            std::string::npos);
  // Below a twentieth of the step, whatever the host waits for.
  report.step.exposed->without.waits = StepSaving{0, 50e3};
  EXPECT_NE(given("waits"), nullptr);
  report.step.exposed->without.waits = StepSaving{0, 49e3};
  layer({"net"});
  report.layers.back().span_ns = 200e3;
  report.layers.back().sync_ns = 150e3;
  EXPECT_EQ(given("waits"), nullptr);
  report.step.exposed->without.waits = StepSaving{0, 50e3};
  EXPECT_NE(given("waits")->trigger.find("The host waits for 150 us in net"), std::string::npos);
  report.run.unit = Unit::run;
  EXPECT_EQ(given("waits"), nullptr);
}

TEST_F(AdviceBorders, UseOfTheGpu) {
  kernel("k", 10e3, 1e3, 20.1e3);
  kernel("big", 900e3, 1e3, 979e3);
  KernelRow& row = report.kernels[0];
  row.time_mean_ns = row.time_total_ns = 100e3;
  row.flags.clear();
  Roofline(report.ceilings, kLatency).apply(row);
  row.metrics.emplace().mix["integer"] = 0.6;
  ASSERT_NE(given("index_arithmetic"), nullptr);
  EXPECT_NE(given("index_arithmetic")->trigger.find("9.27 %"), std::string::npos);  // 100 of 1079
  report.kernels[1].time_mean_ns = report.kernels[1].time_total_ns = 4890e3;
  EXPECT_NE(given("index_arithmetic"), nullptr);
  report.kernels[1].time_mean_ns = report.kernels[1].time_total_ns = 4910e3;  // less than 2 %
  EXPECT_EQ(given("index_arithmetic"), nullptr);
}

TEST_F(AdviceBorders, TriggersNameTheirThresholds) {
  KernelRow& row = kernel("k", 10e3, 1e3, 100e3);
  row.flags.clear();
  Roofline(report.ceilings, kLatency).apply(row);
  SetMetrics& metrics = row.metrics.emplace();
  metrics.warp_efficiency = metrics.occupancy = 0.1;
  metrics.mix["integer"] = metrics.memory_mix["local"] = metrics.memory_mix["shared"] = 0.9;
  for (const auto& [id, threshold] : {std::pair{"divergence", " 24.0 "},
                                      {"local_memory", " 2.00 % "},
                                      {"shared_memory", " 25.0 % "},
                                      {"index_arithmetic", " 50.0 % "},
                                      {"occupancy", " 50.0 % "},
                                      {"latency", " 25.0 % "}}) {
    ASSERT_NE(given(id), nullptr) << id;
    EXPECT_NE(given(id)->trigger.find(threshold), std::string::npos) << given(id)->trigger;
  }
}

TEST_F(AdviceBorders, OccupancyByItsLimits) {
  report.devices[0].compute_major = 8;
  const auto add = [&](const Maybe& registers, double occupancy, double time) -> KernelRow& {
    KernelRow& row = kernel("k", time / 10, 1e2, time);
    row.grid = {100000, 1, 1};
    row.block = {256, 1, 1};
    row.registers = registers;
    row.shared_bytes = 0;
    fill_waves(report.devices[0], row);
    Roofline(report.ceilings, kLatency).apply(row);
    row.metrics.emplace().occupancy = occupancy;
    return row;
  };
  add(128, 0.24, 300e3);  // 2 of 8 blocks fit
  add(std::nullopt, 0.24, 100e3);
  ASSERT_NE(given("occupancy"), nullptr);
  const std::string trigger = given("occupancy")->trigger;
  EXPECT_NE(trigger.find("registers (75.0 % of that time), unknown (25.0 % of that time)."),
            std::string::npos)
      << trigger;
  report.kernels.clear();
  add(128, 0.201, 300e3);  // 80 % of a quarter
  EXPECT_NE(given("occupancy"), nullptr);
  report.kernels.clear();
  add(128, 0.199, 300e3);
  EXPECT_EQ(given("occupancy"), nullptr);
  EXPECT_NE(given("uneven_blocks"), nullptr);
}

TEST_F(AdviceBorders, StridedAccess) {
  const auto strided = [&](double time) {
    report.kernels.clear();
    kernel("gather", 1e3, 20e3, time).metrics.emplace().sectors_per_load = 17;
    return given("strided_access") != nullptr;
  };
  EXPECT_TRUE(strided(40.1e3));
  EXPECT_FALSE(strided(39.9e3));
}

}  // namespace
}  // namespace gable::tests

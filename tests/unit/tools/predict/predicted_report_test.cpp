// SPDX-License-Identifier: Apache-2.0
// A report as it would be on another GPU: what follows from roofs is there, and nothing that was
// measured is left over.
#include "tools/predict/predict.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/made_report.h"

namespace gable::tests {
namespace {

// Twice the FP32 and four times the DRAM of MadeReport's GPU.
GpuSpec faster() {
  GpuSpec gpu;
  gpu.name = "Faster";
  gpu.fp32 = 2;
  gpu.dram = 400;
  gpu.source = "a sheet";
  return gpu;
}

MadeReport measured() {
  MadeReport made;
  made.add_kernel(0, "compute", 100, 50000, 500, 2);  // 50 of 100 ns
  made.add_kernel(0, "memory", 60, 100, 3000);        // 30 of 60 ns
  made.report.step.launch_latency_ns = 1;
  made.report.step.wall_mean_ns = made.report.step.busy_ns = made.report.step.mfu = 5;
  made.report.run.total.flops = made.report.run.total.gpu_time_ns = 5;
  made.report.run.notes = {"a note about the measurement"};
  made.report.sm_clock_measured_hz[0] = 1e9;
  return made;
}

TEST(PredictedReport, EveryKernelKeepsItsFractionOfTheRoof) {
  const Report there = predicted_report(measured().done(), faster(), "");
  ASSERT_EQ(there.kernels.size(), 2u);
  EXPECT_DOUBLE_EQ(*there.kernels[0].time_mean_ns, 50);
  EXPECT_DOUBLE_EQ(*there.kernels[0].time_total_ns, 100);
  EXPECT_DOUBLE_EQ(*there.kernels[1].time_mean_ns, 15);
  EXPECT_DOUBLE_EQ(*there.kernels[0].roof.fraction, 0.5);
  EXPECT_DOUBLE_EQ(*there.kernels[1].roof.fraction, 0.5);
  EXPECT_DOUBLE_EQ(*there.layers[0].time_total_ns, 115);
}

TEST(PredictedReport, WhatWasMeasuredHereIsNotSaidOfThere) {
  Report here = measured().done();
  LayerRow& layer = here.layers[0];
  layer.time_busy_ns = layer.cpu_ns = layer.span_ns = layer.sync_ns = 5;
  layer.model.emplace();
  layer.tokens.emplace();
  layer.spread.emplace();
  here.kernels[0].counters["a.sum"] = 5;
  here.kernels[0].flags = {"above_roof", "tensor_inferred"};
  CopyRow& copy = here.copies.emplace_back();
  copy.count = 3;
  copy.bytes = 7;
  copy.time_ns = 5;
  const Report there = predicted_report(here, faster(), "");
  EXPECT_EQ(there.run.source, Source::predicted);
  EXPECT_FALSE(there.run.total.flops || there.run.total.gpu_time_ns || there.run.total.bytes_dram);
  EXPECT_EQ(there.run.total.basis, Basis::extrapolated);
  EXPECT_EQ(there.run.total.basis_note, "predicted for Faster from GPU");
  EXPECT_EQ(there.run.notes,
            std::vector<std::string>{there.run.total.basis_note + "; nothing was measured there."});
  EXPECT_FALSE(there.step.wall_mean_ns || there.step.busy_ns || there.step.mfu);
  EXPECT_EQ(there.step.launch_latency_ns, 1.0);
  EXPECT_TRUE(there.sm_clock_measured_hz.empty());
  EXPECT_EQ(there.devices[0].name, "Faster");
  EXPECT_EQ(there.devices[0].sm_count, DeviceInfo{}.sm_count);
  EXPECT_EQ(there.ceilings.size(), 2u);
  const LayerRow& row = there.layers[0];
  EXPECT_FALSE(row.time_busy_ns || row.cpu_ns || row.span_ns || row.sync_ns);
  EXPECT_FALSE(row.model || row.tokens || row.spread);
  EXPECT_TRUE(there.kernels[0].counters.empty());
  EXPECT_EQ(there.kernels[0].flags, std::vector<std::string>{"tensor_inferred"});
  EXPECT_EQ(there.copies[0].count, 3);
  EXPECT_EQ(there.copies[0].bytes, 7.0);
  EXPECT_FALSE(there.copies[0].time_ns);
}

// A step of 1,000 ns, of which 200 are kernels on the critical path that take half as long there.
TEST(PredictedReport, AStepGetsShorterByWhatItsCriticalPathDoes) {
  Report here = measured().done();
  here.step.wall_mean_ns = 1000;
  here.step.host_mean_ns = 700;
  here.step.sync_ns = 100;
  EXPECT_FALSE(predicted_report(here, faster(), "").step.wall_mean_ns);  // no step was recorded
  here.step.exposed.emplace();
  here.step.graph.emplace();
  here.kernels[0].path_ns = 200;
  here.kernels[1].path_ns = 0;
  here.kernels[0].step_saving = here.layers[0].step_saving_self = StepSaving{1, 2};
  here.layers[0].path_ns = 200;
  const Report there = predicted_report(here, faster(), "");
  EXPECT_EQ(there.step.wall_mean_ns, 900);
  EXPECT_FALSE(there.kernels[0].path_ns || there.layers[0].path_ns);
  EXPECT_FALSE(there.kernels[0].step_saving || there.layers[0].step_saving_self);
  // The host needs so long beside waiting.
  here.step.host_mean_ns = 1050;
  EXPECT_EQ(predicted_report(here, faster(), "").step.wall_mean_ns, 950);
  // A kernel on the path whose time there is unknown.
  here.kernels[0].flops = {};
  here.kernels[0].bytes = {};
  EXPECT_FALSE(predicted_report(here, faster(), "").step.wall_mean_ns);
}

TEST(PredictedReport, WhatLaunchesOrOtherRanksHoldTakesAsLong) {
  for (const Bound bound : {Bound::overhead, Bound::communication}) {
    Report here = measured().done();
    here.kernels[0].roof.bound = bound;
    const Report there = predicted_report(here, faster(), "");
    EXPECT_DOUBLE_EQ(*there.kernels[0].time_mean_ns, 100) << word_of(bound);
    EXPECT_DOUBLE_EQ(*there.kernels[1].time_mean_ns, 15) << word_of(bound);
  }
}

TEST(PredictedReport, WithoutARoofThereOrHereNothingIsKnown) {
  Report here = measured().done();
  here.kernels[0].time_median_ns = here.kernels[0].time_min_ns = here.kernels[0].time_max_ns = 5;
  here.kernels[0].time_stddev_ns = 5;
  here.kernels[0].bytes.dram = std::nullopt;
  const Report there = predicted_report(here, faster(), "");
  const KernelRow& row = there.kernels[0];
  EXPECT_FALSE(row.time_mean_ns || row.time_total_ns || row.time_median_ns || row.time_min_ns ||
               row.time_max_ns || row.time_stddev_ns);
  EXPECT_EQ(row.time_source, TimeSource::unknown);
  EXPECT_TRUE(there.kernels[1].time_mean_ns);
  GpuSpec no_memory = faster();
  no_memory.dram = 0;
  EXPECT_FALSE(predicted_report(measured().done(), no_memory, "").kernels[1].time_mean_ns);
}

// An H100 whose counter windows ran at another clock than the catalogue's.
MadeReport of_h100() {
  MadeReport made = measured();
  made.report.devices[0].name = "NVIDIA H100 80GB HBM3";
  made.report.devices[0].sm_count = 132;
  made.report.devices[0].sm_clock_max_hz = 1980000000;
  made.report.ceilings = {
      {0, CeilingKind::compute, "fp32", 59.2e12, "theoretical: measured clock", SmClock::measured},
      {0, CeilingKind::compute, "fp32", 66.9e12, "theoretical: highest clock", SmClock::boost},
      {0, CeilingKind::memory, "dram", 3.35e12, "theoretical: made up"}};
  made.report.kernels[0].grid = {1000, 1, 1};
  made.report.kernels[0].time_mean_ns = 5.5e5;
  made.report.kernels[0].time_total_ns = 1.1e6;
  made.report.kernels[0].flops.fp32 = made.report.kernels[0].flops.total = 2e10;
  return made;
}

const GpuSpec& catalogue(const char* name) {
  std::string error;
  const GpuSpec* gpu = find_gpu(name, error);
  EXPECT_NE(gpu, nullptr) << error;
  return *gpu;
}

TEST(PredictedReport, OntoItsOwnGpuEveryTimeStays) {
  Report here = of_h100().done();
  here.kernels[0].counters["a.sum"] = 5;
  const Report there = predicted_report(here, catalogue("H100"), "");
  EXPECT_EQ(there.kernels[0].counters, here.kernels[0].counters);
  for (std::size_t i = 0; i < here.kernels.size(); ++i) {
    EXPECT_EQ(there.kernels[i].time_total_ns, here.kernels[i].time_total_ns);
    EXPECT_EQ(there.kernels[i].roof.fraction, here.kernels[i].roof.fraction);
  }
  EXPECT_EQ(there.layers[0].time_total_ns, here.layers[0].time_total_ns);
  EXPECT_EQ(there.run.source, Source::predicted);
}

TEST(PredictedReport, PublishedClocksAreHeldAgainstPublishedClocks) {
  // H200: the same SMs and clock, so computing takes as long, whatever clock was measured here.
  const Report there = predicted_report(of_h100().done(), catalogue("H200"), "");
  EXPECT_DOUBLE_EQ(*there.kernels[0].time_total_ns, 1.1e6);
  // A board that the catalogue lacks is held against its own highest clock.
  MadeReport other = of_h100();
  other.report.devices[0].name = "Some board";
  GpuSpec same = catalogue("H100");
  same.fp32 = 66.9;
  EXPECT_NEAR(*predicted_report(other.done(), same, "").kernels[0].time_total_ns, 1.1e6, 1);
}

TEST(PredictedReport, APartOfAGpuIsNotTheWhole) {
  MadeReport made = of_h100();
  made.report.devices[0].sm_count = 66;  // half of it, under its name
  made.report.ceilings[1].value /= 2;
  made.report.ceilings[2].value /= 2;
  const Report here = made.done();
  EXPECT_EQ(starting_gpu(here), "NVIDIA H100 80GB HBM3");
  const Maybe whole = predicted_report(here, catalogue("H100"), "").kernels[0].time_total_ns;
  EXPECT_NEAR(*whole, 1.1e6 * 33.45 / 67, 1);
  EXPECT_EQ(starting_gpu(of_h100().done()), "NVIDIA H100 80GB HBM3 (H100)");
}

TEST(PredictedReport, LessThanAWaveOfBlocksUsesAsManySmsThere) {
  MadeReport made = of_h100();
  made.report.kernels[0].grid = {66, 1, 1};  // half of the H100's SMs
  made.report.kernels[0].flops.fp32 = made.report.kernels[0].flops.total = 1.8e10;
  const Report here = made.done();
  GpuSpec twice = catalogue("H100");  // as many again, each as fast
  twice.sm_count = 264;
  twice.fp32 *= 2;
  twice.dram *= 2;
  EXPECT_NEAR(*predicted_report(here, twice, "").kernels[0].time_mean_ns, 5.5e5, 1);
  made.report.kernels[0].grid = {264, 1, 1};
  EXPECT_NEAR(*predicted_report(made.done(), twice, "").kernels[0].time_mean_ns, 5.5e5 / 2, 1);

  // Half of the SMs that reach 0.8 of the roof are not what holds it: nor are they there.
  made.report.kernels[0].grid = {66, 1, 1};
  made.report.kernels[0].flops.fp32 = made.report.kernels[0].flops.total = 2.9e10;
  const Report fast = made.done();
  const Report older = predicted_report(fast, catalogue("V100"), "");
  EXPECT_LT(*older.kernels[0].roof.fraction, 0.9);
  EXPECT_GT(*older.kernels[0].time_mean_ns, 1.5e6);
}

TEST(PredictedReport, LatencyDoesNotShrinkWithBandwidth) {
  MadeReport made;
  made.add_kernel(0, "latency", 1000, 100, 1000);  // 10 of 1000 ns at the roof
  made.add_kernel(0, "quarter", 1000, 100, 25000);
  made.add_kernel(0, "less", 1000, 100, 24000);
  const Report there = predicted_report(made.done(), faster(), "");
  // Four times 10 ns scale with bandwidth, 960 ns stay.
  EXPECT_DOUBLE_EQ(*there.kernels[0].time_mean_ns, 40 / 4.0 + 960);
  EXPECT_DOUBLE_EQ(*there.kernels[1].time_mean_ns, 250);
  EXPECT_DOUBLE_EQ(*there.kernels[2].time_mean_ns, 960 / 4.0 + 40);  // without a jump
  // With clocks known, latency is in them.
  MadeReport clocked;
  clocked.report.devices[0].sm_clock_max_hz = 1000000000;
  clocked.add_kernel(0, "latency", 1000, 100, 1000);
  GpuSpec gpu = faster();
  gpu.sm_clock_mhz = 2000;
  EXPECT_DOUBLE_EQ(*predicted_report(clocked.done(), gpu, "").kernels[0].time_mean_ns, 10 + 480);
}

TEST(PredictedReport, NothingBecomesShorterThanItsLaunch) {
  MadeReport made = measured();
  made.report.step.launch_latency_ns = 20;
  const Report there = predicted_report(made.done(), faster(), "");
  EXPECT_DOUBLE_EQ(*there.kernels[1].time_mean_ns, 20);  // 15 by the roofs
  EXPECT_DOUBLE_EQ(*there.kernels[0].time_mean_ns, 50);
}

TEST(PredictedReport, WhereNothingWasCountedFormulasStandIn) {
  MadeReport made;
  const auto linear = made.add_layer({"linear"});
  const auto relu = made.add_layer({"relu"});
  for (const auto layer : {linear, relu}) {
    KernelRow& row = made.add_kernel(layer, "k", 100, 0, 0);
    row.flops = {};
    row.bytes = {};
  }
  Report here = made.done();
  LayerModel& model = here.layers[1].model.emplace();
  model.self.flops = 50000;  // 50 of 100 ns
  model.self.bytes = 100;
  model.self.types["fp32"] = 50000;
  model.bytes_per_s = 1;
  const Report there = predicted_report(here, faster(), "");
  EXPECT_DOUBLE_EQ(*there.layers[1].time_total_ns, 50);
  EXPECT_FALSE(there.kernels[1].time_mean_ns);  // nobody knows what relu does
  ASSERT_TRUE(there.layers[1].model);
  EXPECT_EQ(there.layers[1].model->self.flops, 50000.0);
  // Half of the bytes, on tensor cores that the GPU lacks: unknown.
  EXPECT_FALSE(predicted_report(here, faster(), "bf16").layers[1].model);
  GpuSpec tensor = faster();
  tensor.tensor.bf16 = 10;
  EXPECT_DOUBLE_EQ(*predicted_report(here, tensor, "bf16").layers[1].time_total_ns, 10);
}

TEST(PredictedReport, PrecisionIsOfMatrixProductsAndBytes) {
  MadeReport made;
  made.add_kernel(0, "sgemm", 100, 50000, 400);
  made.add_kernel(0, "elementwise_gelu", 100, 50000, 400);
  made.add_kernel(0, "double_add", 100, 0, 400);
  made.report.kernels[2].flops.fp32 = 0;
  made.report.kernels[2].flops.fp64 = made.report.kernels[2].flops.total = 100;
  const Report there = predicted_report(made.done(), faster(), "bf16");
  EXPECT_EQ(there.kernels[0].flops.tensor.at("bf16"), 50000.0);
  EXPECT_EQ(there.kernels[0].bytes.dram, 200.0);
  EXPECT_EQ(there.kernels[1].flops.fp32, 50000.0);
  EXPECT_TRUE(there.kernels[1].flops.tensor.empty());
  EXPECT_EQ(there.kernels[1].bytes.dram, 200.0);
  EXPECT_EQ(there.kernels[2].bytes.dram, 400.0);
  // Elements that have 2 byte already stay as they are.
  made.report.kernels[0].flops.fp32 = 0;
  made.report.kernels[0].flops.tensor["fp16"] = 50000;
  const Report again = predicted_report(made.report, faster(), "bf16");
  EXPECT_EQ(again.kernels[0].bytes.dram, 400.0);
  EXPECT_EQ(again.kernels[1].bytes.dram, 400.0);
}

TEST(Memory, KeysAndValuesOfAllLayers) {
  PredictOptions fp16;
  // 2 x layers x kv heads x head dim x byte x tokens x batch, and the weights.
  const double kv7 = 2.0 * 32 * 32 * 128 * 2 * 4096 * 16, kv70 = 2.0 * 80 * 8 * 128 * 2 * 4096 * 16;
  const double need7 = memory_needed(described_model("llama2-7b-decode", 4096), 16, fp16);
  EXPECT_NEAR(need7, kv7 + 2 * 6738415616.0, 0.01 * need7);
  EXPECT_NEAR(need7, 47.8e9, 0.1e9);
  const double need70 = memory_needed(described_model("llama2-70b-decode", 4096), 16, fp16);
  EXPECT_NEAR(need70, kv70 + 2 * 68976648192.0, 0.01 * need70);
  const DescribedModel decode = described_model("llama2-7b-decode", 4096);
  EXPECT_FALSE(predict(decode, catalogue("RTX4090"), 16, fp16).fits);
  EXPECT_TRUE(predict(decode, catalogue("RTX4090"), 1, fp16).fits);
  EXPECT_TRUE(predict(decode, catalogue("A6000"), 16, fp16).fits);
}

TEST(Memory, LlamasHaveTheirPublishedParameters) {
  for (const char* name : {"llama2-7b-prefill", "llama2-70b-prefill"}) {
    const DescribedModel model = described_model(name, 16);
    double weights = 0;
    for (const ModelLayer& layer : model.layers) weights += layer.repeats * layer.weights;
    // The table of embeddings and the norms are no layers here.
    EXPECT_NEAR(weights / model.parameters, 1, 0.025) << name;
    EXPECT_LT(weights, model.parameters);
  }
}

TEST(Memory, TrainingKeepsGradientsAndAdamsState) {
  PredictOptions options;
  options.training = true;
  const DescribedModel model = described_model("resnet50", 1);
  double values = 0;
  for (const ModelLayer& layer : model.layers) values += layer.repeats * layer.values;
  EXPECT_DOUBLE_EQ(memory_needed(model, 32, options), 16 * 25557032.0 + 32 * values);
  const auto trains = predict(model, catalogue("H100"), 32, options);
  options.training = false;
  const auto infers = predict(model, catalogue("H100"), 32, options);
  EXPECT_DOUBLE_EQ(trains.flops, 3 * infers.flops);
  EXPECT_NEAR(*trains.latency_ns, 3 * *infers.latency_ns, 1e-3);
}

TEST(PredictedReport, FlopsAsIfDoneInAnotherType) {
  MadeReport made = measured();
  KernelRow& row = made.report.kernels[0];
  row.flops = {1000, 20000, 3000, {{"bf16", 4000}, {"fp64", 500}}, 28500};
  made.report.kernels[1].flops = {};
  const auto flops_in = [&](const char* precision) {
    return predicted_report(made.report, faster(), precision).kernels[0].flops;
  };
  auto flops = flops_in("bf16");
  EXPECT_EQ(flops.fp64, 1000.0);
  EXPECT_EQ(flops.fp32, 0.0);
  EXPECT_EQ(flops.fp16, 0.0);
  EXPECT_EQ(flops.tensor.at("bf16"), 27000.0);
  EXPECT_EQ(flops.tensor.at("fp64"), 500.0);
  EXPECT_EQ(flops.total, 28500.0);
  flops = flops_in("fp32");
  EXPECT_EQ(flops.fp32, 27000.0);
  EXPECT_EQ(flops.tensor.at("bf16"), 0.0);
  flops = flops_in("fp64");
  EXPECT_EQ(flops.fp64, 28000.0);
  flops = flops_in("fp8");
  EXPECT_EQ(flops.tensor.at("fp8"), 27000.0);
  EXPECT_FALSE(predicted_report(made.report, faster(), "bf16").kernels[1].flops.fp32);
}

TEST(ModelReport, SaysThatNothingRan) {
  DescribedModel model;
  model.name = "two";
  model.layers = {{"first", 1000, 10, 20, 3}, {"second", 10, 400, 20, 1}};
  PredictOptions options;
  options.precision = "fp32";
  const Report report = model_report(model, faster(), {1, 4}, options);
  EXPECT_EQ(report.run.source, Source::predicted);
  EXPECT_TRUE(report.run.complete);
  EXPECT_EQ(report.run.total.basis, Basis::extrapolated);
  EXPECT_EQ(report.run.total.basis_note, "by formula, for Faster in fp32; nothing ran");
  EXPECT_EQ(report.run.command, (std::vector<std::string>{"gable", "predict", "--model", "two"}));
  ASSERT_EQ(report.devices.size(), 1u);
  EXPECT_EQ(report.devices[0].name, "Faster");
  // The root, and for each batch itself and two layers.
  ASSERT_EQ(report.layers.size(), 7u);
  EXPECT_EQ(report.layers[2].path, (std::vector<std::string>{"batch 1", "first"}));
  EXPECT_EQ(report.layers[4].path, std::vector<std::string>{"batch 4"});
  ASSERT_EQ(report.kernels.size(), 4u);
  EXPECT_EQ(report.kernels[0].launches, 3);
  EXPECT_EQ(report.kernels[0].flops.fp32, 1000.0);
  EXPECT_EQ(report.kernels[0].bytes.dram, 4.0 * (10 + 20));
  EXPECT_EQ(report.kernels[2].flops.total, 4000.0);
  EXPECT_EQ(report.kernels[3].bytes.dram, 4.0 * (400 + 4 * 20));
  // 2000 FLOP and 400 byte in a ns.
  EXPECT_DOUBLE_EQ(*report.kernels[0].time_mean_ns, 0.5);
  EXPECT_DOUBLE_EQ(*report.kernels[3].time_mean_ns, 4.8);
  EXPECT_DOUBLE_EQ(*report.layers[1].time_total_ns, 3 * 0.5 + 4.2);
}

}  // namespace
}  // namespace gable::tests

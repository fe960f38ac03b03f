// SPDX-License-Identifier: Apache-2.0
// A report as it would be on another GPU: what follows from roofs is there, and nothing that was
// measured is left over.
#include "tools/predict/predict.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/made_report.h"

namespace gable::testing {
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
  EXPECT_EQ(there.run.total.basis_note,
            "predicted for Faster: every kernel keeps its fraction of the roof");
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
}  // namespace gable::testing

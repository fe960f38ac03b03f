// SPDX-License-Identifier: Apache-2.0
// Predictions by formula: of given work, of described models, and of kernels on another GPU.
#include "tools/predict/predict.h"

#include <gtest/gtest.h>

#include "tools/predict/scaling.h"

namespace gable::tests {
namespace {

// 2000 FLOP and 400 byte in a ns; 1000 byte of memory.
GpuSpec small() {
  GpuSpec gpu;
  gpu.name = "Small";
  gpu.fp32 = 2;
  gpu.dram = 400;
  gpu.memory_gb = 1e-6;
  return gpu;
}

PredictOptions fp32() {
  PredictOptions options;
  options.precision = "fp32";
  return options;
}

TEST(Predict, TheSlowerRoofDecides) {
  PredictOptions options = fp32();
  options.overhead_ns = 10;
  const Prediction compute = predict(8000, 400, small(), options);
  EXPECT_EQ(compute.batch, 1u);
  EXPECT_DOUBLE_EQ(*compute.compute_ns, 4);
  EXPECT_DOUBLE_EQ(*compute.memory_ns, 1);
  EXPECT_DOUBLE_EQ(*compute.latency_ns, 14);
  EXPECT_EQ(compute.bottleneck, "compute");
  EXPECT_DOUBLE_EQ(*compute.per_second, 1e9 / 14);
  EXPECT_DOUBLE_EQ(*compute.flops_per_s, 8000e9 / 14);
  EXPECT_TRUE(compute.fits);
  options.efficiency = 0.5;
  EXPECT_DOUBLE_EQ(*predict(8000, 400, small(), options).compute_ns, 8);
  EXPECT_EQ(predict(2000, 400, small(), fp32()).bottleneck, "memory");  // both take as long
  EXPECT_EQ(predict(1, 400, small(), fp32()).bottleneck, "memory");
  const Prediction none = predict(0, 0, small(), fp32());
  EXPECT_EQ(none.latency_ns, 0.0);
  EXPECT_FALSE(none.per_second);
  EXPECT_TRUE(predict(1, 1, small(), fp32()).per_second);
}

TEST(Predict, WithoutARoofNothingIsKnown) {
  GpuSpec gpu = small();
  gpu.dram = 0;
  EXPECT_FALSE(predict(1, 1, gpu, fp32()).latency_ns);
  EXPECT_EQ(predict(1, 1, gpu, fp32()).bottleneck, "unknown");
  EXPECT_FALSE(ridge_point(gpu, fp32()));
  gpu.dram = 0.5;
  EXPECT_TRUE(predict(1, 1, gpu, fp32()).latency_ns);
  gpu.fp32 = 0;
  EXPECT_EQ(predict(1, 1, gpu, fp32()).bottleneck, "unknown");
  EXPECT_FALSE(predict(1, 1, gpu, fp32()).per_second);
  EXPECT_FALSE(ridge_point(gpu, fp32()));
  EXPECT_DOUBLE_EQ(*ridge_point(small(), fp32()), 5);
  PredictOptions half = fp32();
  half.efficiency = 0.5;
  EXPECT_DOUBLE_EQ(*ridge_point(small(), half), 2.5);
}

// Of a sample: 3 x 4000 FLOP over 10 weights and 20 values, then 8 FLOP over 40 and 30.
DescribedModel model() {
  DescribedModel made;
  made.layers = {{"first", 4000, 10, 20, 3, 5}, {"second", 8, 40, 30, 1, 0}};
  made.parameters = 100;
  return made;
}

TEST(Predict, AModelIsTheSumOfItsLayers) {
  PredictOptions options = fp32();
  options.overhead_ns = 1;
  const Prediction two = predict(model(), small(), 2, options);
  // 8000 FLOP in 4 ns over 200 byte, three times; 16 over 400 byte in 1 ns.
  EXPECT_EQ(two.batch, 2u);
  EXPECT_DOUBLE_EQ(two.flops, 24016);
  EXPECT_DOUBLE_EQ(two.bytes, 1000);
  EXPECT_DOUBLE_EQ(*two.latency_ns, 14);
  EXPECT_DOUBLE_EQ(*two.compute_ns, 12.008);
  EXPECT_DOUBLE_EQ(*two.memory_ns, 2.5);
  EXPECT_EQ(two.bottleneck, "compute");
  EXPECT_DOUBLE_EQ(*two.per_second, 2e9 / 14);
  EXPECT_DOUBLE_EQ(model().flops(), 12008);
  options.training = true;
  const Prediction trained = predict(model(), small(), 2, options);
  EXPECT_DOUBLE_EQ(*trained.latency_ns, 40);
  EXPECT_DOUBLE_EQ(trained.bytes, 3000);
  GpuSpec gpu = small();
  gpu.fp32 = 0;
  EXPECT_FALSE(predict(model(), gpu, 2, options).latency_ns);
  EXPECT_FALSE(predict(model(), gpu, 2, options).compute_ns);
  EXPECT_FALSE(predict(model(), gpu, 2, options).memory_ns);
  EXPECT_TRUE(predict(model(), gpu, 2, options).memory_bytes);
}

TEST(Predict, WhatMustLieInMemory) {
  PredictOptions options = fp32();
  // 4 byte x (100 + batch x (3 x 5 kept and 30 at once)).
  EXPECT_DOUBLE_EQ(memory_needed(model(), 1, options), 580);
  EXPECT_DOUBLE_EQ(memory_needed(model(), 3, options), 940);
  EXPECT_TRUE(predict(model(), small(), 3, options).fits);
  EXPECT_FALSE(predict(model(), small(), 4, options).fits);
  GpuSpec gpu = small();
  gpu.memory_gb = 940e-9;
  EXPECT_TRUE(predict(model(), gpu, 3, options).fits);
  gpu.memory_gb = 0;  // not known
  EXPECT_TRUE(predict(model(), gpu, 4, options).fits);
  options.training = true;
  // 16 byte a parameter; half of 3 x 20 + 30 values.
  EXPECT_DOUBLE_EQ(memory_needed(model(), 2, options), 1600 + 4 * 2 * 45);
}

TEST(Predict, TheBatchWhereTheBottleneckChanges) {
  DescribedModel one;
  // FLOP / 2000 against 4 x (1000 + batch) / 400: alike at 1000 / (flops / 20 - 1).
  const auto change = [&](double flops) {
    one.layers = {{"layer", flops, 1000, 1, 1, 0}};
    return batch_of_change(one, small(), fp32());
  };
  EXPECT_EQ(change(220), 101u);  // at 100 both take as long
  EXPECT_EQ(change(219), 101u);
  EXPECT_EQ(change(221), 100u);
  EXPECT_EQ(change(20020), 2u);
  EXPECT_EQ(change(10), 0u);   // never
  EXPECT_EQ(change(1e9), 0u);  // it computes from the first on
  EXPECT_EQ(change(20 + 20e3 / 65535.5), 65536u);
  EXPECT_EQ(change(20 + 20e3 / 65537), 0u);
}

TEST(Predict, ModelsByTheirNames) {
  struct Case {
    const char* name;
    const char* sample;
    std::size_t layers;
  };
  for (const Case& each : {Case{"resnet18", "image", 21},
                           {"resnet50", "image", 54},
                           {"vgg16", "image", 16},
                           {"mobilenet", "image", 53},
                           {"llama2-7b-prefill", "prompt", 9},
                           {"llama2-70b-decode", "token", 9}}) {
    const DescribedModel made = described_model(each.name, 16);
    EXPECT_EQ(made.name, each.name);
    EXPECT_EQ(made.sample, each.sample);
    EXPECT_EQ(made.layers.size(), each.layers) << each.name;
    EXPECT_NE(described_model_names().find(each.name), std::string::npos);
  }
  for (const char* name : {"", "resnet", "llama2-7b", "llama2-7b-x", "llama2-7b-decode2"})
    EXPECT_EQ(described_model(name, 16).name, "") << name;
}

const ModelLayer& layer_named(const DescribedModel& model, const std::string& name) {
  for (const ModelLayer& layer : model.layers) {
    if (layer.name == name) return layer;
  }
  ADD_FAILURE() << "no layer " << name;
  return model.layers.front();
}

TEST(Predict, LayersOfModels) {
  struct Case {
    const char *model, *layer;
    double flops, weights, values;
    int repeats;
    double cached;
  };
  const double head = 4096;
  for (const Case& each :
       {Case{"resnet18", "conv1", 2.0 * 9408 * 12544, 9408 + 64, 150528 + 802816, 1, 0},
        {"resnet18", "layer1.1.conv2", 2.0 * 36864 * 3136, 36864 + 64, 401408, 1, 0},
        {"resnet18", "layer2.0.conv1", 2.0 * 73728 * 784, 73728 + 128, 200704 + 100352, 1, 0},
        {"resnet18", "layer2.0.downsample", 2.0 * 8192 * 784, 8192 + 128, 301056, 1, 0},
        {"resnet50", "layer1.0.downsample", 2.0 * 16384 * 3136, 16384 + 256, 1003520, 1, 0},
        {"resnet50", "layer4.0.conv2", 2.0 * 2359296 * 49, 2359296 + 512, 100352 + 25088, 1, 0},
        {"resnet50", "fc", 2.0 * 2048 * 1000, 2048 * 1000 + 1000, 3048, 1, 0},
        {"vgg16", "conv5_3", 2.0 * 2359296 * 196, 2359296 + 512, 200704, 1, 0},
        {"vgg16", "fc6", 2.0 * 25088 * 4096, 25088.0 * 4096 + 4096, 29184, 1, 0},
        {"mobilenet", "block1.depthwise", 2.0 * 288 * 12544, 288 + 32, 802816, 1, 0},
        {"mobilenet", "block2.depthwise", 2.0 * 864 * 3136, 864 + 96, 1505280, 1, 0},
        {"mobilenet", "block17.project", 2.0 * 307200 * 49, 307200 + 320, 62720, 1, 0},
        {"mobilenet", "conv2", 2.0 * 409600 * 49, 409600 + 1280, 78400, 1, 0},
        {"llama2-7b-prefill", "q_proj", 32 * head * head, head * head, 32 * 4096, 32, 0},
        {"llama2-7b-prefill", "down_proj", 32 * 11008 * head, 11008 * head, 16 * 15104, 32, 0},
        {"llama2-7b-prefill", "attention", 4 * 256 * head, 0, 64 * head, 32, 32 * head},
        {"llama2-7b-prefill", "lm_head", 2 * 32000 * head, 32000 * head, 36096, 1, 0},
        {"llama2-70b-decode", "k_proj", 2.0 * 8192 * 1024, 8192 * 1024, 9216, 80, 0},
        {"llama2-70b-decode", "attention", 64.0 * 8192, 0, 2 * 8192 + 32768, 80, 32768}}) {
    const DescribedModel model = described_model(each.model, 16);
    const ModelLayer& layer = layer_named(model, each.layer);
    EXPECT_EQ(layer.flops, each.flops) << each.model << " " << each.layer;
    EXPECT_EQ(layer.weights, each.weights) << each.model << " " << each.layer;
    EXPECT_EQ(layer.values, each.values) << each.model << " " << each.layer;
    EXPECT_EQ(layer.repeats, each.repeats) << each.model << " " << each.layer;
    EXPECT_EQ(layer.cached, each.cached) << each.model << " " << each.layer;
  }
}

TEST(Scaling, SizesOfElements) {
  for (const auto& [precision, size] : {std::pair{"fp64", 8.0},
                                        {"fp32", 4},
                                        {"tf32", 4},
                                        {"bf16", 2},
                                        {"fp16", 2},
                                        {"fp8", 1},
                                        {"int8", 1},
                                        {"fp4", 0.5},
                                        {"fp", 0}})
    EXPECT_EQ(element_bytes(precision), size) << precision;
}

Machine machine(double sms, double clock) { return {Roofline({}), sms, clock, nullptr}; }

Maybe factor(const ScalingFacts& facts, const Machine& here = machine(0, 0),
             const Machine& there = machine(0, 0)) {
  return time_factor(facts, here, there);
}

TEST(Scaling, ATimeWithinItsRoofScalesWithIt) {
  ScalingFacts facts;
  EXPECT_FALSE(factor(facts));
  facts.least_here_ns = 50;
  EXPECT_FALSE(factor(facts));
  facts.least_there_ns = 20;
  EXPECT_DOUBLE_EQ(*factor(facts), 0.4);  // the time is unknown
  facts.time_ns = 0;
  EXPECT_DOUBLE_EQ(*factor(facts), 0.4);
  facts.time_ns = 100;
  EXPECT_DOUBLE_EQ(*factor(facts), 0.4);
  facts.launch_latency_ns = 60;  // it does not become shorter than its launch
  EXPECT_DOUBLE_EQ(*factor(facts), 0.6);
  facts.launch_latency_ns = 200;
  EXPECT_DOUBLE_EQ(*factor(facts), 1);
  facts.stays = true;
  facts.least_here_ns.reset();
  EXPECT_EQ(factor(facts), 1.0);
  facts.stays = false;
  facts.least_here_ns = 0;
  EXPECT_FALSE(factor(facts));
  facts.least_here_ns = 0.5;
  facts.least_there_ns.reset();
  EXPECT_FALSE(factor(facts));
}

TEST(Scaling, WhatNoRoofExplainsGoesWithTheClock) {
  ScalingFacts facts;
  facts.time_ns = 100;
  facts.least_here_ns = 10;  // explains 40
  facts.least_there_ns = 5;
  EXPECT_DOUBLE_EQ(*factor(facts), 0.8);
  EXPECT_DOUBLE_EQ(*factor(facts, machine(0, 1e9), machine(0, 2e9)), 0.5);
  EXPECT_DOUBLE_EQ(*factor(facts, machine(0, 1e9), machine(0, 0)), 0.8);
  EXPECT_DOUBLE_EQ(*factor(facts, machine(0, 0), machine(0, 2e9)), 0.8);
}

TEST(Scaling, FewBlocksUseFewSms) {
  ScalingFacts facts;
  facts.time_ns = 100;
  facts.least_here_ns = 30;
  facts.least_there_ns = 15;
  facts.blocks = 50;
  // Half of 100 SMs here, a quarter of 200 there: 60 ns here and there.
  EXPECT_DOUBLE_EQ(*factor(facts, machine(100, 0), machine(200, 0)), 1);
  EXPECT_DOUBLE_EQ(*factor(facts, machine(100, 0), machine(0, 0)), 0.5);
  EXPECT_DOUBLE_EQ(*factor(facts, machine(0, 0), machine(200, 0)), 0.5);
  facts.time_ns = 60;  // as long as so many SMs need
  EXPECT_DOUBLE_EQ(*factor(facts, machine(100, 0), machine(200, 0)), 1);
  facts.time_ns = 59;  // it moves more than they could
  EXPECT_DOUBLE_EQ(*factor(facts, machine(100, 0), machine(200, 0)), 0.5);
  facts.time_ns.reset();
  EXPECT_DOUBLE_EQ(*factor(facts, machine(100, 0), machine(200, 0)), 1);
  facts.blocks = 300;
  EXPECT_DOUBLE_EQ(*factor(facts, machine(100, 0), machine(200, 0)), 0.5);
  facts.blocks = 0;
  EXPECT_DOUBLE_EQ(*factor(facts, machine(100, 0), machine(200, 0)), 0.5);
}

TEST(Scaling, TheUsualTypeIsThatOfMatrixProducts) {
  Report report;
  EXPECT_EQ(usual_type(report), "fp32");
  const auto add = [&](const char* name, const char* type, double flops, double launches) {
    KernelRow& row = report.kernels.emplace_back();
    row.name = name;
    row.launches = launches;
    row.flops.total = flops;
    if (std::string(type) == "fp16")
      row.flops.fp16 = flops;
    else
      row.flops.tensor[type] = flops;
  };
  add("gemm", "bf16", 100, 2);
  EXPECT_EQ(usual_type(report), "bf16");
  add("gemm", "tf32", 70, 3);
  EXPECT_EQ(usual_type(report), "tf32");
  add("elementwise", "fp16", 1000, 1);  // no matrix product
  EXPECT_EQ(usual_type(report), "tf32");
  add("gemm", "bf16", 11, 1);
  EXPECT_EQ(usual_type(report), "bf16");
  add("gemm", "fp8", 1, 1e6);
  report.kernels.back().flops.total.reset();  // not of all of it
  EXPECT_EQ(usual_type(report), "bf16");
}

TEST(Scaling, BytesOfAnotherPrecision) {
  const auto dram = [](const char* own, bool matrix, const char* to, const char* usual) {
    KernelRow row;
    row.flops.total = row.flops.tensor[own] = 10;
    row.bytes = {80, 40, 20, 160, 240};
    change_precision(row, matrix, to, usual);
    EXPECT_EQ(*row.bytes.dram_read * 2, *row.bytes.dram);
    EXPECT_EQ(*row.bytes.dram_write * 4, *row.bytes.dram);
    EXPECT_EQ(*row.bytes.l2, *row.bytes.dram * 2);
    EXPECT_EQ(*row.bytes.l1, *row.bytes.dram * 3);
    return *row.bytes.dram;
  };
  EXPECT_EQ(dram("tf32", true, "bf16", "fp8"), 40);
  EXPECT_EQ(dram("tf32", false, "bf16", "fp8"), 160);  // elements are as usual
  EXPECT_EQ(dram("tf32", false, "bf16", "none"), 80);
  EXPECT_EQ(dram("fp64", true, "bf16", "fp8"), 80);  // stays
  EXPECT_EQ(dram("fp8", true, "fp4", "fp8"), 40);
}

}  // namespace
}  // namespace gable::tests

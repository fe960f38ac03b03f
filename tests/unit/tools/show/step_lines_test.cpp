// SPDX-License-Identifier: Apache-2.0
// What a step's time is made of. Numbers and names are asserted on, not whole sentences.
#include "tools/show/step_lines.h"
#include "tests/unit/has_text.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

// The first line with a word.
std::string line(const Report& report, const std::string& word) {
  for (const std::string& each : step_lines(report))
    if (has(each, word)) return each;
  return "";
}

Report step(Maybe wall) {
  Report report;
  report.step.wall_mean_ns = wall;
  report.step.host_mean_ns = 100;
  return report;
}

TEST(StepLines, WithoutAStepThereAreNone) {
  EXPECT_TRUE(step_lines(Report()).empty());
  EXPECT_EQ(step_lines(step({})).size(), 1u);
}

TEST(StepLines, PartsThatAreZeroOrUnknownAreLeftOut) {
  Report report = step(1000);
  EXPECT_EQ(step_lines(report).at(0), "A step: 1.00 us, host 100 ns");
  report.step.busy_ns = 0;
  report.step.copy_ns = 0;
  report.step.sync_ns = 0;
  report.step.idle_ns = 0;
  EXPECT_FALSE(has(line(report, "A step"), "copies"));
  EXPECT_FALSE(has(line(report, "A step"), "idle"));
  EXPECT_FALSE(has(line(report, "A step"), "waits"));
  EXPECT_TRUE(has(line(report, "A step"), "busy 1.00 us")) << "what is not idle";
  report.step.idle_ns = 1000;
  EXPECT_TRUE(has(line(report, "A step"), "idle 1.00 us (100 %)"));
  report.step.idle_ns = 1001;
  report.step.busy_ns = 400;
  EXPECT_TRUE(has(line(report, "A step"), "busy 400 ns"));
  report.step.host_mean_ns.reset();
  EXPECT_FALSE(has(line(report, "A step"), "host"));
}

TEST(StepLines, StepsThatDifferMuchAreSaidTo) {
  Report report = step(1000);
  report.step.wall_stddev_ns = 100;
  EXPECT_FALSE(has(line(report, "A step"), "100 ns)"));
  report.step.wall_stddev_ns = 101;
  EXPECT_TRUE(has(line(report, "A step"), "(+- 101 ns)"));
}

KernelRow kernel(const char* name, Maybe time) {
  KernelRow row;
  row.name = name;
  row.time_total_ns = time;
  return row;
}

TEST(StepLines, HowTheGpuIsUsed) {
  Report report = step(2e6);
  report.step.model_flops = 4e9;
  EXPECT_TRUE(has(line(report, "4.00 GFLOP"), "2.00 TFLOP/s"));
  EXPECT_EQ(line(report, "model FLOP utilisation"), "");
  report.step.hfu = 0.25;
  EXPECT_TRUE(has(line(report, "4.00 GFLOP"), "; as counted 25.0 %"));
  report.step.mfu = 0.5;
  EXPECT_TRUE(line(report, "4.00 GFLOP").starts_with("Model FLOP utilisation 50.0 %; 4.00 GFLOP"));
  report.step.model_flops = 0;
  EXPECT_FALSE(has(line(report, "Model"), "GFLOP"));
  report.step.mfu.reset();
  EXPECT_TRUE(line(report, "25.0 %").starts_with("FLOP utilisation 25.0 %"));
  report.step.model_flops = 4e9;
  report.step.wall_mean_ns.reset();
  EXPECT_FALSE(has(line(report, "4.00 GFLOP"), "FLOP/s"));
  report.step.wall_mean_ns = 0;
  EXPECT_FALSE(has(line(report, "4.00 GFLOP"), "FLOP/s"));
}

LayerRow described(const char* name, Maybe flops, const char* type = "fp32") {
  LayerRow row;
  row.path = {name};
  row.parent = 0;
  row.depth = 1;
  row.model.emplace();
  row.model->self.flops = flops;
  if (flops) row.model->self.types[type] = flops;
  return row;
}

TEST(StepLines, WhyUtilisationIsUnknown) {
  Report report = step(1000);
  EXPECT_TRUE(unknown_utilisation_lines(report).empty()) << "there is nothing to take it from";
  report.layers.emplace_back();  // the root
  for (const char* name : {"a", "b", "c", "d", "e"})
    report.layers.insert(report.layers.end(), 2, described(name, std::nullopt));
  EXPECT_EQ(
      unknown_utilisation_lines(report).at(0),
      "Model FLOP utilisation unknown: no formula tells the FLOPs of operators in a, b, c and "
      "2 more layers");
  EXPECT_TRUE(has(line(report, "Model FLOP"), "operators in a"));
  report.layers = {LayerRow(), described("a", 1)};
  EXPECT_TRUE(has(line(report, "Model FLOP"), "no operator of PyTorch"));
  report.step.model_flops = 1;
  EXPECT_TRUE(has(line(report, "Model FLOP utilisation unknown"), "no roof is known for fp32"));
  report.ceilings.push_back({0, CeilingKind::compute, "fp32", 1, "", SmClock::none});
  report.layers.push_back(described("b", 1, "fp8"));
  EXPECT_TRUE(has(line(report, "Model FLOP utilisation unknown"), "no roof is known for fp8"));
  report.step.mfu = 0.5;
  EXPECT_TRUE(unknown_utilisation_lines(report).empty());
  report.layers[0].flops.total = 5;
  report.layers[0].coverage = {1, 0.5, 0.25};
  EXPECT_EQ(
      unknown_utilisation_lines(report).at(0),
      "FLOP utilisation as counted unknown: FLOPs were counted for 50.0 % of the GPU time and "
      "bytes for 25.0 %; it takes 95 % with both and their roofs");
  report.step.hfu = 0.5;
  EXPECT_TRUE(unknown_utilisation_lines(report).empty());
  report.step.mfu.reset();
  report.step.hfu.reset();
  report.step.wall_mean_ns.reset();
  EXPECT_TRUE(unknown_utilisation_lines(report).empty()) << "no step was timed";
}

TEST(StepLines, KindsOfKernelsThatMoveDataHaveTheirShare) {
  Report report = step(1000);
  report.kernels = {kernel("gemm", 980), kernel("permute_kernel", 10),
                    kernel("transpose_kernel", 10), kernel("x", {}), kernel("permute", 1000)};
  report.kernels.back().graph = 1;
  EXPECT_TRUE(has(line(report, "GPU time"), " 2.00 %")) << line(report, "GPU time");
  report.kernels[0].time_total_ns = 1980;
  EXPECT_TRUE(has(line(report, "GPU time"), " 1.00 %"));
  report.kernels[0].time_total_ns = 1981;
  EXPECT_EQ(line(report, "GPU time"), "") << "less than a hundredth";
}

Report recorded() {
  Report report = step(1000);
  report.step.critical_path = PathTimes{500, 100, 10, 99, {}, 200, 9, 82};
  report.step.graph.emplace();
  report.step.graph->wall_ns = 1000;
  report.step.graph->steps = 3;
  report.step.graph->explained = 0.92;
  return report;
}

TEST(StepLines, TheLargestPartsOfTheCriticalPathComeFirst) {
  EXPECT_EQ(line(recorded(), "Critical path"),
            "Critical path: kernels 50.0 %, launching 20.0 %, communication 10.0 %, the host 9.90 "
            "%, unexplained 8.20 %, copies 1.00 %");
  Report fetching = recorded();
  fetching.step.critical_path->input_ns = 10;
  EXPECT_TRUE(has(line(fetching, "Critical path"), "the host 9.90 % (fetching input 1.00 %), "));
  fetching.step.critical_path->input_ns = 9.9;
  EXPECT_EQ(line(fetching, "Critical path"), line(recorded(), "Critical path"));
  fetching.step.critical_path->waits_ns = 20;
  EXPECT_TRUE(
      has(line(fetching, "Critical path"), "the host 9.90 % (after waits for the GPU 2.00 %), "));
  fetching.step.critical_path->input_ns = 10;
  EXPECT_TRUE(has(line(fetching, "Critical path"),
                  "the host 9.90 % (after waits for the GPU 2.00 %, fetching input 1.00 %), "));
  Report none = recorded();
  none.step.graph->wall_ns = 0;
  EXPECT_EQ(line(none, "Critical path"), "");
  none = recorded();
  none.step.critical_path.reset();
  EXPECT_EQ(step_lines(none).size(), 1u);
}

TEST(StepLines, WhatSavingsAreFrom) {
  Report report = recorded();
  EXPECT_TRUE(has(line(report, "recorded step"), "kernels' time: 3 recorded steps, 92.0 %"));
  report.step.graph->steps = 1;
  report.step.graph->replay_error = 0.03;
  report.step.graph->overlapped = 0.01;
  const std::string text = line(report, "recorded step");
  EXPECT_TRUE(has(text, " 1 recorded step,")) << text;
  EXPECT_TRUE(has(text, "error 3.00 %") && has(text, ", 1.00 % of kernels'")) << text;
  report.step.graph->overlapped = 0.0099;
  EXPECT_FALSE(has(line(report, "recorded step"), "beside"));
  report.step.exposed.emplace();
  EXPECT_TRUE(has(line(report, "recorded step"), "replayed from 1"));
}

TEST(StepLines, TheHostsPartNamesThreeLayers) {
  Report report = recorded();
  report.step.critical_path->host_ns = 100;
  const auto add = [&](const char* name, double ns) {
    LayerRow& layer = report.layers.emplace_back();
    layer.id = static_cast<std::int64_t>(report.layers.size()) - 1;
    if (*name != 0) {
      layer.path = {name};
      layer.parent = 0;
      layer.depth = 1;
    }
    layer.host_path_ns = ns;
  };
  add("", 95);
  add("a", 40);
  EXPECT_EQ(line(report, "host's part"), line(report, "a 40.0 ns"));
  EXPECT_TRUE(has(line(report, "host's part"), "outside of layers 55.0 ns, a 40.0 ns"))
      << line(report, "host's part");
  report.layers[1].direction = Direction::backward;
  add("b", 20);
  add("c", 15);
  EXPECT_TRUE(has(line(report, "host's part"),
                  ": a (backward) 40.0 ns, outside of layers 20.0 ns, b 20.0 ns"))
      << line(report, "host's part");
  EXPECT_TRUE(has(line(report, "host's part"), " and 1 more")) << line(report, "host's part");
  report.step.critical_path->host_ns = 99;
  EXPECT_EQ(line(report, "host's part"), "") << "less than a tenth";
}

TEST(StepLines, WhatNothingHides) {
  Report report = recorded();
  ExposedTimes& exposed = report.step.exposed.emplace();
  exposed.communication_ns = 9;
  exposed.copies_ns = 9;
  EXPECT_EQ(line(report, "Not hidden"), "");
  exposed.communication_ns = 10;
  EXPECT_TRUE(has(line(report, "Not hidden"), "communication 10.0 ns"));
  EXPECT_FALSE(has(line(report, "Not hidden"), "copies"));
  exposed.without.copies = {10, 10};
  EXPECT_TRUE(has(line(report, "Not hidden"), "; copies 9.00 ns (without them"))
      << line(report, "Not hidden");
  EXPECT_TRUE(has(line(report, "Not hidden"), "10.0 ns shorter"));
  // Of input both are known or nothing is said.
  report.step.critical_path.emplace().input_ns = 30;
  EXPECT_FALSE(has(line(report, "Not hidden"), "input"));
  exposed.without.input = {20, 20};
  EXPECT_TRUE(has(line(report, "Not hidden"), "; fetching input 30.0 ns (without it"));
  report.step.critical_path->input_ns.reset();
  EXPECT_FALSE(has(line(report, "Not hidden"), "input"));
  // So it is of waits.
  report.step.critical_path->waits_ns = 40;
  EXPECT_FALSE(has(line(report, "Not hidden"), "waits"));
  exposed.without.waits = {35, 35};
  EXPECT_TRUE(has(line(report, "Not hidden"),
                  "; the host after waits for the GPU 40.0 ns (without waits a step would be 35.0 "
                  "ns shorter)"))
      << line(report, "Not hidden");
}

TEST(StepLines, WhatCollectivesWaitFor) {
  Report report;
  for (const std::int32_t device : {0, 1}) {
    LayerRow& root = report.layers.emplace_back();
    root.device = device;
    root.collectives = CollectiveTimes{1000, device == 0 ? 400.0 : 100.0, 750, 0};
  }
  const std::string text = line(report, "Collectives");
  EXPECT_TRUE(has(text, "1.00 us on a GPU") && has(text, "250 ns") && has(text, "(25.0 %)") &&
              has(text, "750 ns"))
      << text;
  EXPECT_FALSE(has(text, "GPU 1"));
  EXPECT_EQ(step_lines(report).size(), 1u);
  report.step.host_mean_ns = 5;
  EXPECT_EQ(step_lines(report).size(), 2u);
  report.layers[1].collectives->others_wait_ns = 500;
  EXPECT_TRUE(line(report, "Collectives").ends_with(" GPU 1"));
  report.run.processes.resize(2);
  for (MergedProcess& process : report.run.processes)
    process.collectives = CollectiveTimes{2000, 500, 1500, 0};
  EXPECT_TRUE(has(line(report, "Collectives"), "2.00 us of a process"));
  for (MergedProcess& process : report.run.processes) process.collectives->time_ns = 0;
  EXPECT_EQ(line(report, "Collectives"), "");
}

std::string tokens(const Tokens& tokens, const char* name = "decode") {
  Report report = step(1000);
  LayerRow& layer = report.layers.emplace_back();
  if (*name != 0) layer.path = {"model", name};
  layer.tokens = tokens;
  return line(report, "decode");
}

TEST(StepLines, TokensHaveTheTimeOfAForward) {
  Tokens one;
  one.forwards = 2;
  one.per_forward = 8;
  one.per_sequence = 1;
  one.wall_ns = 2e6;
  one.host_ns = 1e6;
  EXPECT_EQ(tokens(one), "decode: 2.00 ms a token, 4.00 ktokens/s (8 sequences, 2 forwards timed)");
  one.wall_ns.reset();
  EXPECT_EQ(tokens(one),
            "decode: 1.00 ms a token on the host, 8.00 ktokens/s (8 sequences, 2 forwards timed)");
  one.per_sequence = 4;
  one.per_forward = 4;
  one.forwards = 1;
  EXPECT_EQ(tokens(one),
            "decode: 1.00 ms for 4 tokens on the host, 4.00 ktokens/s (1 sequence, 1 forward "
            "timed)");
  one.per_forward = 10;
  EXPECT_TRUE(has(tokens(one), "(2.50 sequences"));
  one.host_ns = 0;
  EXPECT_EQ(tokens(one), "");
  one.host_ns = 5;
  EXPECT_EQ(tokens(one, ""), "");
}

}  // namespace
}  // namespace gable

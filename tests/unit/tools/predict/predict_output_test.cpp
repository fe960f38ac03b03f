// SPDX-License-Identifier: Apache-2.0
// Tables and CSV of predictions.
#include "tools/predict/predict_output.h"

#include <gtest/gtest.h>

#include "tests/unit/has_text.h"
#include "tests/unit/tools/made_report.h"

namespace gable::tests {
namespace {

using Cells = std::vector<std::string>;

GpuSpec named(const std::string& name) {
  GpuSpec gpu;
  gpu.name = name;
  gpu.fp32 = 2;
  gpu.dram = 400;
  return gpu;
}

Prediction known(std::uint64_t batch) {
  Prediction made;
  made.batch = batch;
  made.latency_ns = 2000;
  made.per_second = 5e5;
  made.flops = 1000;
  made.bytes = 400;
  made.bottleneck = "memory";
  made.flops_per_s = 3e12;
  made.memory_bytes = 5e9;
  return made;
}

TEST(PredictedColumns, OfBatches) {
  const GpuSpec gpu = named("G");
  Prediction second = known(8), none;
  second.fits = false;
  none.bottleneck = "unknown";
  const std::vector<PredictedRow> rows = {
      {&gpu, known(4), 2.5, 0, true}, {&gpu, second, 2.5, 16, true}, {&gpu, none, {}, 0, true}};
  const auto columns = predicted_columns(rows, "image");
  std::vector<Cells> cells;
  Cells heads;
  for (const Column& column : columns) {
    heads.push_back(column.head);
    cells.push_back(column.cells);
  }
  EXPECT_EQ(heads, (Cells{"GPU", "batch", "memory", "bottleneck", "latency", "images/s", "TFLOP/s",
                          "FLOP/B", "ridge", "changes at batch"}));
  EXPECT_EQ(cells, (std::vector<Cells>{{"G", "G", "G"},
                                       {"4", "8*", "1"},
                                       {"5.00 GB", "5.00 GB", "unknown"},
                                       {"memory", "memory", "unknown"},
                                       {"2.00 us", "2.00 us", "-"},
                                       {"500000", "500000", "-"},
                                       {"3.00", "3.00", "-"},
                                       {"2.50", "2.50", "-"},
                                       {"2.50", "2.50", "-"},
                                       {"never", "16", "-"}}));
  EXPECT_TRUE(columns[0].left);
  EXPECT_FALSE(columns[1].left);
  EXPECT_TRUE(columns[3].left);
}

TEST(PredictedColumns, OfGivenWork) {
  const GpuSpec gpu = named("G");
  const auto columns = predicted_columns({{&gpu, known(1), 2.5, 0, false}}, "");
  Cells heads;
  for (const Column& column : columns) heads.push_back(column.head);
  EXPECT_EQ(heads, (Cells{"GPU", "bottleneck", "latency", "TFLOP/s", "FLOP/B", "ridge"}));
  EXPECT_EQ(predicted_columns({}, "").size(), 6u);
}

TEST(PredictedCsv, EveryCell) {
  const GpuSpec gpu = named("\"G\"");
  Prediction full = known(8), none;
  full.fits = false;
  none.bottleneck = "unknown";
  none.bytes = 0.5;
  none.flops = 1;
  PredictOptions options;
  options.precision = "bf16";
  const std::string text = predicted_csv(
      {{&gpu, full, 2.25, 16, true}, {&gpu, known(1), 2.25, 0, true}, {&gpu, none, {}, 0, false}},
      "a,b", options);
  EXPECT_EQ(text,
            "source,what,gpu,precision,batch,bottleneck,latency_ns,per_s,flop_per_s,flop,bytes,"
            "flop_per_byte,ridge_flop_per_byte,changes_at_batch,fits_in_memory,memory_bytes\n"
            "predicted,\"a,b\",\"\"\"G\"\"\",bf16,8,memory,2000,500000,3000000000000,1000,400,2.5,"
            "2.25,16,no,5000000000\n"
            "predicted,\"a,b\",\"\"\"G\"\"\",bf16,1,memory,2000,500000,3000000000000,1000,400,2.5,"
            "2.25,,yes,5000000000\n"
            "predicted,\"a,b\",\"\"\"G\"\"\",bf16,1,unknown,,,,1,0.5,2,,,,\n");
}

// Half of a roof each; a GPU with twice the FP32 and four times the DRAM.
MadeReport two_layers() {
  MadeReport made;
  const auto conv = made.add_layer({"conv"}, Direction::forward);
  const auto relu = made.add_layer({"relu"}, Direction::backward);
  made.add_kernel(relu, "max", 40, 100, 2000);
  made.add_kernel(conv, "gemm", 100, 50000, 500);
  return made;
}

Cells lines_of(const std::string& text) {
  Cells lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  return lines;
}

// Words of a line of a table.
std::string words(const std::string& line) {
  std::string out;
  for (const char c : line) {
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

TEST(PredictedLayers, TheLongestFirst) {
  const Report here = two_layers().done();
  const std::vector<Report> there = {predicted_report(here, named("Faster"), "")};
  const Cells lines = lines_of(predicted_layers(here, there, 9, 100, false));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(words(lines[0]), "layer dir here bound Faster bound");
  EXPECT_EQ(words(lines[1]), "whole program 140 ns 60.0 ns");
  EXPECT_EQ(words(lines[2]), "conv for 100 ns compute 50.0 ns compute");
  EXPECT_EQ(words(lines[3]), "relu bac 40.0 ns memory 10.0 ns memory");
  EXPECT_EQ(lines_of(predicted_layers(here, there, 1, 100, false)).size(), 3u);
  MadeReport forward = two_layers();
  forward.report.layers[2].direction = Direction::none;
  EXPECT_FALSE(has(predicted_layers(forward.done(), {}, 9, 100, false), "dir"));
  MadeReport none = two_layers();
  none.report.layers[1].direction = Direction::none;
  EXPECT_EQ(words(lines_of(predicted_layers(none.done(), {}, 9, 100, false)).at(2)),
            "conv - 100 ns compute");
}

TEST(PredictedLayers, AsCsv) {
  Report here = two_layers().done();
  const std::vector<Report> there = {predicted_report(here, named("Faster"), "")};
  EXPECT_EQ(predicted_layers_csv(here, there),
            "source,layer,direction,gpu,time_ns,bound,fraction,least_ns,work\n"
            "playback,\"conv\",forward,\"GPU\",100,compute,0.5,50,counted\n"
            "predicted,\"conv\",forward,\"Faster\",50,compute,0.5,25,counted\n"
            "playback,\"relu\",backward,\"GPU\",40,memory,0.5,20,counted\n"
            "predicted,\"relu\",backward,\"Faster\",10,memory,0.5,5,counted\n");
  here.devices.clear();
  here.kernels.pop_back();
  here.kernels[0].flops = {};
  EXPECT_TRUE(predicted_layers_csv(here, {}).ends_with(",\"?\",40,unknown,,,\n"))
      << predicted_layers_csv(here, {});
}

TEST(PredictedRemarks, HowMuchHasAPrediction) {
  const auto first = [](double unknown_ns, bool all_unknown = false) {
    MadeReport made = two_layers();
    KernelRow& kernel = made.add_kernel(made.add_layer({"none"}), "k", unknown_ns, 0, 0);
    kernel.flops = {};
    if (all_unknown)
      for (KernelRow& each : made.report.kernels) each.flops = {};
    const Report here = made.done();
    return predicted_remarks(here, {predicted_report(here, named("Faster"), "")}).front();
  };
  const std::string most = first(40);  // 140 of 180
  EXPECT_TRUE(most.starts_with("Faster: 77.8 % ")) << most;
  EXPECT_TRUE(has(most, "140 ns here and 60.0 ns there")) << most;
  EXPECT_FALSE(has(first(7), "Faster")) << first(7);  // 4.8 % is little
  EXPECT_TRUE(has(first(8), "94.6 %")) << first(8);
  EXPECT_TRUE(has(first(40, true), "Faster: no layer")) << first(40, true);
}

TEST(PredictedRemarks, OfStepsAndFormulas) {
  Report here = two_layers().done();
  std::vector<Report> there = {predicted_report(here, named("Faster"), "")};
  const std::size_t least = predicted_remarks(here, there).size();
  EXPECT_EQ(least, 1u);
  here.step.wall_mean_ns = 300;
  EXPECT_EQ(predicted_remarks(here, there).size(), least);
  there[0].step.wall_mean_ns = 200;
  ASSERT_EQ(predicted_remarks(here, there).size(), least + 1);
  const std::string step = predicted_remarks(here, there)[0];
  EXPECT_TRUE(has(step, "300 ns here") && has(step, "200 ns on Faster")) << step;
  here.step.wall_mean_ns.reset();
  EXPECT_EQ(predicted_remarks(here, there).size(), least);

  MadeReport made;
  KernelRow& kernel = made.add_kernel(made.add_layer({"net"}), "k", 100, 0, 0);
  kernel.flops = {};
  kernel.bytes = {};
  Report formula = made.done();
  LayerModel& model = formula.layers[1].model.emplace();
  model.self = {25000, 1000, {{"fp32", 25000}}};
  model.flops_per_s = 1;
  EXPECT_EQ(predicted_remarks(formula, {}).size(), least + 1);
  EXPECT_EQ(words(lines_of(predicted_layers(formula, {}, 9, 100, false)).at(2)),
            "net 100 ns compute formula");
  EXPECT_TRUE(predicted_layers_csv(formula, {}).ends_with(",formula\n"));
  // A graph's time is that of others.
  MadeReport graph = two_layers();
  graph.add_kernel(0, "(graph)", 500, 0, 0).graph = 1;
  const Report with_graph = graph.done();
  EXPECT_EQ(
      predicted_remarks(with_graph, {predicted_report(with_graph, named("Faster"), "")}).size(),
      least);
}

}  // namespace
}  // namespace gable::tests

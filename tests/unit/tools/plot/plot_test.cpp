// SPDX-License-Identifier: Apache-2.0
// What charts, tables and exports draw: rows of layers and of kernels, in the order that is asked.
#include "tools/plot/plot.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/made_report.h"
#include "tests/unit/tools/work_by_formula.h"

namespace gable::tests {
namespace {

std::vector<std::string> names(const std::vector<PlotRow>& rows) {
  std::vector<std::string> found;
  found.reserve(rows.size());
  for (const PlotRow& row : rows) found.push_back(row.name);
  return found;
}

// conv: 100 ns, compute needs 50, memory 10. relu: 60 ns, memory needs 30. A graph of both.
Report two_layers() {
  MadeReport made;
  made.report.step.launch_latency_ns = 3;
  const auto conv = made.add_layer({"net"}, Direction::none);
  const auto first = made.add_layer({"net", "conv"}, Direction::forward);
  const auto second = made.add_layer({"net", "relu"}, Direction::backward);
  EXPECT_EQ(conv, 1);
  made.add_kernel(first, "gemm", 50, 25000, 500, 2);
  made.add_kernel(second, "max", 60, 100, 3000);
  KernelRow& graph = made.add_kernel(1, "(graph of 2 kernels)", 160, 0, 0);
  graph.graph = 1;
  graph.nodes = 2;
  return made.done();
}

TEST(PlotRows, OfLayers) {
  const Report report = two_layers();
  const auto rows = plot_layers(report);
  ASSERT_EQ(names(rows),
            (std::vector<std::string>{"net (graph of 2 kernels)", "net/conv", "net/relu"}));
  EXPECT_EQ(rows[1].direction, Direction::forward);
  EXPECT_EQ(rows[2].direction, Direction::backward);
  EXPECT_EQ(rows[1].layer, &report.layers[2]);
  EXPECT_EQ(rows[1].kernel, nullptr);
  EXPECT_TRUE(rows[0].counts_again);
  EXPECT_FALSE(rows[0].share);
  EXPECT_DOUBLE_EQ(*rows[1].share, 100.0 / 160);
  EXPECT_DOUBLE_EQ(*rows[2].share, 60.0 / 160);
  EXPECT_EQ(rows[1].precision, "fp32");
  EXPECT_EQ(rows[1].sum.launches, 2.0);
  EXPECT_DOUBLE_EQ(*rows[1].box_ns, 6);
  ASSERT_TRUE(rows[1].times);
  EXPECT_DOUBLE_EQ(rows[1].times->compute_ns, 100);
  EXPECT_DOUBLE_EQ(rows[1].times->memory_ns, 20);
  EXPECT_DOUBLE_EQ(rows[1].times->over_roof, 2);
  EXPECT_DOUBLE_EQ(rows[2].times->memory_ns, 60);
}

TEST(PlotRows, OfKernels) {
  const Report report = two_layers();
  const auto rows = plot_kernels(report);
  ASSERT_EQ(names(rows), (std::vector<std::string>{"gemm", "max", "(graph of 2 kernels)"}));
  EXPECT_EQ(rows[0].direction, Direction::forward);
  EXPECT_EQ(rows[1].direction, Direction::backward);
  EXPECT_EQ(rows[0].kernel, &report.kernels[0]);
  EXPECT_EQ(rows[0].layer, &report.layers[2]);
  EXPECT_DOUBLE_EQ(*rows[0].share, 100.0 / 160);
  EXPECT_TRUE(rows[2].counts_again);
  EXPECT_FALSE(rows[2].share);
  EXPECT_EQ(rows[2].sum.time_total_ns, 160.0);  // as a row of its own
  EXPECT_DOUBLE_EQ(*rows[1].box_ns, 3);
}

TEST(PlotRows, ThePrecisionIsThatOfMostFlops) {
  for (const auto& [type, name] : {std::pair{"", "fp32"}, {"bf16", "bf16_tensor"}}) {
    MadeReport made;
    KernelRow& kernel = made.add_kernel(0, "k", 100, 0, 0);
    kernel.flops = {1, 20, 19, {{"tf32", 5}}, 45};
    if (*type != 0) kernel.flops.tensor[type] = 21;
    EXPECT_EQ(plot_layers(made.done()).at(0).precision, name);
  }
  MadeReport none;
  none.add_kernel(0, "k", 100, 0, 0);
  EXPECT_EQ(plot_layers(none.done()).at(0).precision, "");
}

// Nothing was counted of the layer: what its operators have to do by formula stands in.
TEST(PlotRows, AnalyticWorkIsSaidToBe) {
  Report report = work_by_formula();
  const auto rows = plot_layers(report);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0].analytic);
  EXPECT_EQ(rows[0].precision, "fp32");
  EXPECT_DOUBLE_EQ(*rows[0].sum.roof.fraction, 0.25);
  EXPECT_DOUBLE_EQ(*rows[0].sum.saving_ns, 75);
  ASSERT_TRUE(rows[0].times);
  EXPECT_DOUBLE_EQ(rows[0].times->memory_ns, 40);
  EXPECT_FALSE(plot_layers(two_layers()).at(1).analytic);
  LayerModel& model = *report.layers[1].model;
  model.self.bytes = *model.self.bytes * 100;
  const auto slower = plot_layers(report);
  EXPECT_EQ(slower.at(0).sum.roof.level, MemoryLevel::dram);  // memory is the limit
  EXPECT_EQ(slower.at(0).precision, "fp32");                  // and its type is known all the same
  model.bytes_per_s = std::nullopt;                           // no time of the same steps
  EXPECT_FALSE(plot_layers(report).at(0).analytic);
}

TEST(PlotRows, InTheOrderThatIsAskedAndOfTheLayersThatAre) {
  const Report report = two_layers();
  const auto sorted = [&](SortBy sort, bool kernels = true) {
    RowQuery query;
    query.kernels = kernels;
    query.sort = sort;
    return names(plot_rows(report, query));
  };
  using Shown = std::vector<std::string>;
  const std::string graph = "(graph of 2 kernels)";
  EXPECT_EQ(sorted(SortBy::name), (Shown{graph, "gemm", "max"}));
  EXPECT_EQ(sorted(SortBy::time), (Shown{graph, "gemm", "max"}));
  EXPECT_EQ(sorted(SortBy::flops), (Shown{"gemm", "max", graph}));
  EXPECT_EQ(sorted(SortBy::bytes), (Shown{"max", "gemm", graph}));
  RowQuery query;
  query.layers = {Pattern::parse("relu").pattern};
  EXPECT_EQ(names(plot_rows(report, query)), (Shown{"net/relu"}));
  query.layers = {Pattern::parse("net").pattern};
  EXPECT_EQ(plot_rows(report, query).size(), 3u);
  query.layers = {Pattern::parse("nothing").pattern};
  EXPECT_TRUE(plot_rows(report, query).empty());
}

TEST(RowOrder, WhatIsUnknownStandsLastAndEqualOnesByTime) {
  LayerRow known, unknown, longer;
  known.saving_ns = longer.saving_ns = 5;
  known.roof.fraction = 0.5;
  longer.roof.fraction = 0.7;
  known.time_total_ns = 10;
  longer.time_total_ns = 20;
  unknown.time_total_ns = 1000;
  for (const SortBy sort : {SortBy::saving, SortBy::fraction}) {
    EXPECT_TRUE(stands_before(sort, known, "", unknown, ""));
    EXPECT_FALSE(stands_before(sort, unknown, "", known, ""));
  }
  EXPECT_TRUE(stands_before(SortBy::saving, longer, "", known, ""));
  EXPECT_FALSE(stands_before(SortBy::saving, known, "", longer, ""));
  EXPECT_TRUE(stands_before(SortBy::fraction, known, "", longer, ""));  // the smaller first
}

TEST(RowLevels, BytesAndRatesOfEachLevel) {
  LayerRow row;
  row.bytes = {100, 1, 2, 200, 300};
  row.intensity = {1, 2, 3};
  row.bytes_per_s = 7;
  row.time_total_ns = 50;
  row.coverage.time = 0.95;
  EXPECT_EQ(at_level(row, MemoryLevel::dram).bytes, 100.0);
  EXPECT_EQ(at_level(row, MemoryLevel::dram).bytes_per_s, 7.0);
  EXPECT_EQ(at_level(row, MemoryLevel::l2).bytes, 200.0);
  EXPECT_EQ(at_level(row, MemoryLevel::l2).intensity, 2.0);
  EXPECT_EQ(at_level(row, MemoryLevel::l2).bytes_per_s, 4e9);
  EXPECT_EQ(at_level(row, MemoryLevel::l1).bytes, 300.0);
  EXPECT_EQ(at_level(row, MemoryLevel::l1).intensity, 3.0);
  EXPECT_EQ(at_level(row, MemoryLevel::l1).bytes_per_s, 6e9);
  row.coverage.time = 0.5;
  EXPECT_FALSE(at_level(row, MemoryLevel::l2).bytes_per_s);
  row.coverage.time = 1;
  row.time_total_ns = 0;
  EXPECT_FALSE(at_level(row, MemoryLevel::l2).bytes_per_s);
}

}  // namespace
}  // namespace gable::tests

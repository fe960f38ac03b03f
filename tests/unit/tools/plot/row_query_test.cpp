// SPDX-License-Identifier: Apache-2.0
// Which rows are asked for, and in which order they stand.
#include "tools/plot/row_query.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/whole_kernel.h"
#include "tools/plot/plot.h"

namespace gable::tests {
namespace {

TEST(LayerMatches, ByPathNameAndDottedNameOfItselfAndAbove) {
  LayerRow layer;
  layer.path = {"Net", "block", "conv"};
  layer.dotted = "features.1.conv";
  const auto matches = [&](const std::vector<std::string>& texts) {
    std::vector<Pattern> patterns;
    for (const std::string& text : texts) patterns.push_back(Pattern::parse(text).pattern);
    return layer_matches(patterns, layer);
  };
  EXPECT_TRUE(matches({}));
  for (const char* text : {"Net", "block", "conv", "Net/block", "Net/block/conv", "features",
                           "features.1", "features.1.conv"})
    EXPECT_TRUE(matches({"other", text})) << text;
  for (const char* text : {"block/conv", "1", "1.conv", "features.", "other", ".conv", "Net/conv"})
    EXPECT_FALSE(matches({text, "other"})) << text;
  layer.dotted.clear();
  EXPECT_FALSE(matches({"features"}));
  EXPECT_FALSE(matches({"regex:^$"}));
  EXPECT_TRUE(matches({"block"}));
  layer.path.clear();
  EXPECT_FALSE(matches({"block"}));
  EXPECT_TRUE(matches({}));
}

TEST(RowSaving, OfAStepOrOfKernels) {
  LayerRow row;
  EXPECT_FALSE(step_saving_of(row));
  EXPECT_FALSE(saving_of(row));
  row.path_ns = 30;
  EXPECT_FALSE(step_saving_of(row));
  EXPECT_FALSE(saving_of(row));
  row.saving_ns = 20;
  EXPECT_EQ(step_saving_of(row)->low_ns, 0);
  EXPECT_EQ(step_saving_of(row)->high_ns, 20);
  EXPECT_EQ(saving_of(row), 10.0);
  row.path_ns = 12;
  EXPECT_EQ(step_saving_of(row)->high_ns, 12);
  EXPECT_EQ(saving_of(row), 6.0);
  row.path_ns.reset();
  EXPECT_EQ(step_saving_of(row)->high_ns, 20);
  EXPECT_EQ(saving_of(row), 20.0);
  row.step_saving = StepSaving{3, 8};
  EXPECT_EQ(step_saving_of(row)->low_ns, 3);
  EXPECT_EQ(step_saving_of(row)->high_ns, 8);
  EXPECT_EQ(saving_of(row), 5.5);
  row.saving_ns.reset();
  EXPECT_EQ(saving_of(row), 5.5);
}

TEST(RowSaving, AsText) {
  EXPECT_EQ(saving_text(std::nullopt), "-");
  EXPECT_EQ(saving_text(StepSaving{0, 0}), "0 ns");
  EXPECT_EQ(saving_text(StepSaving{1.2e6, 1.2e6}), "1.20 ms");
  EXPECT_EQ(saving_text(StepSaving{0, 9e5}), "0-900 us");
  EXPECT_EQ(saving_text(StepSaving{1, 2}), "1.00-2.00 ns");
  EXPECT_EQ(saving_text(StepSaving{1e5, 9e5}), "100-900 us");
  EXPECT_EQ(saving_text(StepSaving{9e5, 1.2e6}), "900 us-1.20 ms");
}

TEST(RowOrder, ByEachNumberTheLargerFirst) {
  LayerRow large, small;
  large.saving_ns = large.time_total_ns = large.flops.total = large.bytes.dram = 2;
  small.saving_ns = small.time_total_ns = small.flops.total = small.bytes.dram = 1;
  large.roof.fraction = 0.1;
  small.roof.fraction = 0.2;
  for (const SortBy sort :
       {SortBy::saving, SortBy::time, SortBy::fraction, SortBy::flops, SortBy::bytes}) {
    EXPECT_TRUE(stands_before(sort, large, "b", small, "a"));
    EXPECT_FALSE(stands_before(sort, small, "a", large, "b"));
    EXPECT_FALSE(stands_before(sort, small, "a", small, "a"));
  }
  EXPECT_TRUE(stands_before(SortBy::name, small, "a", large, "b"));
  EXPECT_FALSE(stands_before(SortBy::name, small, "a", large, "a"));
  // Each is sorted by its own number alone.
  const std::pair<SortBy, Maybe LayerRow::*> fields[] = {{SortBy::saving, &LayerRow::saving_ns},
                                                         {SortBy::time, &LayerRow::time_total_ns}};
  for (const auto& [sort, field] : fields) {
    LayerRow known;
    known.*field = 1;
    EXPECT_TRUE(stands_before(sort, known, "", LayerRow(), ""));
    EXPECT_FALSE(stands_before(sort, LayerRow(), "", known, ""));
  }
  // Where nothing is known they stand by their time, the unknown as 0.
  LayerRow timed;
  timed.time_total_ns = 0.5;
  EXPECT_TRUE(stands_before(SortBy::flops, timed, "", LayerRow(), ""));
  EXPECT_FALSE(stands_before(SortBy::flops, LayerRow(), "", timed, ""));
  EXPECT_FALSE(stands_before(SortBy::flops, LayerRow(), "", LayerRow(), ""));
}

TEST(RowLevels, ARateNeedsBytesTimeAndAnIntensity) {
  LayerRow row;
  row.bytes.l2 = 200;
  row.intensity.l2 = 2;
  row.time_total_ns = 0.5;
  row.coverage.time = 1;
  EXPECT_EQ(at_level(row, MemoryLevel::l2).bytes_per_s, 4e11);
  for (Maybe* part : {&row.bytes.l2, &row.intensity.l2, &row.time_total_ns, &row.coverage.time}) {
    const Maybe before = *part;
    part->reset();
    EXPECT_FALSE(at_level(row, MemoryLevel::l2).bytes_per_s);
    *part = before;
  }
}

TEST(PlotRows, WhatAKernelsRowTakesFromIt) {
  const Report report = one_kernel().done();
  const PlotRow row = plot_kernels(report).at(0);
  EXPECT_EQ(row.name, "gemm");
  EXPECT_EQ(row.precision, "fp32");
  EXPECT_EQ(row.share, 1.0);
  EXPECT_EQ(row.sum.path_ns, 7.0);
  EXPECT_EQ(row.sum.step_saving->high_ns, 4);
  EXPECT_EQ(row.sum.metrics->occupancy, 0.5);
  EXPECT_EQ(row.sum.flops.total, 10000.0);
  EXPECT_EQ(row.sum.bytes.l2, 1600.0);
  EXPECT_EQ(row.times->compute_ns, 20);
  EXPECT_EQ(row.times->memory_ns, 16);
  EXPECT_EQ(row.times->over_roof, 2);
  EXPECT_FALSE(row.box_ns);
  Report other = report;
  other.kernels[0].device = 1;
  other.kernels[0].time_mean_ns.reset();
  other.kernels[0].time_total_ns.reset();
  const PlotRow unknown = plot_kernels(other).at(0);
  EXPECT_EQ(unknown.sum.device, 1);
  EXPECT_FALSE(unknown.times);  // the device has no roofs
  EXPECT_FALSE(unknown.share);
  EXPECT_EQ(unknown.sum.metrics->occupancy, 0.5);
}

TEST(PlotRows, SharesAreOfTheKnownTime) {
  MadeReport made;
  made.add_kernel(0, "a", 0.25, 0, 0);
  made.add_kernel(0, "b", 0.75, 0, 0);
  KernelRow& unknown = made.add_kernel(0, "c", 1, 0, 0);
  unknown.time_mean_ns.reset();
  unknown.time_total_ns.reset();
  KernelRow& graph = made.add_kernel(0, "(graph)", 5, 0, 0);
  graph.graph = 1;
  graph.time_source = TimeSource::hw;  // nothing else has its time
  KernelRow& range = made.add_kernel(0, "(range)", 7, 0, 0);
  range.ranges = 1;
  const auto rows = plot_kernels(made.done());
  EXPECT_DOUBLE_EQ(*rows[0].share, 0.25 / 6);
  EXPECT_DOUBLE_EQ(*rows[1].share, 0.75 / 6);
  EXPECT_FALSE(rows[2].share);
  EXPECT_DOUBLE_EQ(*rows[3].share, 5.0 / 6);
  EXPECT_TRUE(rows[4].counts_again);
  EXPECT_FALSE(rows[4].share);
  EXPECT_EQ(rows[4].sum.time_total_ns, 7.0);
  MadeReport nothing;
  nothing.add_kernel(0, "a", 0, 0, 0);
  EXPECT_FALSE(plot_kernels(nothing.done()).at(0).share);
}

TEST(PlotRows, PrecisionsInTheirOrder) {
  const auto precision = [](const Maybe& fp64, const Maybe& fp32, const Maybe& fp16,
                            const std::map<std::string, Maybe>& tensor = {}) {
    return precision_of({fp64, fp32, fp16, tensor, std::nullopt});
  };
  EXPECT_EQ(precision({}, {}, {}), "");
  EXPECT_EQ(precision(0, 0, 0, {{"bf16", 0}}), "");
  EXPECT_EQ(precision(0.5, {}, {}), "fp64");
  EXPECT_EQ(precision(1, 2, 1), "fp32");
  EXPECT_EQ(precision(1, 2, 3), "fp16");
  EXPECT_EQ(precision(3, 3, 3, {{"bf16", 3}}), "fp64");  // of equal ones the first
  EXPECT_EQ(precision(3, 3, 3, {{"bf16", 4}, {"tf32", 5}}), "tf32_tensor");
}

TEST(PlotRows, OfAnAnalyticRowTheTypeOfItsFormula) {
  MadeReport made;
  KernelRow& kernel = made.add_kernel(made.add_layer({"net"}), "k", 100, 0, 0);
  kernel.flops = {};
  kernel.bytes = {};
  Report report = made.done();
  LayerModel& model = report.layers[1].model.emplace();
  model.self.flops = 1000;
  model.self.bytes = 5000;
  model.self.types["fp32"] = 1000;
  model.flops_per_s = 1;
  EXPECT_EQ(plot_layers(report).at(0).precision, "fp32");  // memory binds
  EXPECT_EQ(plot_layers(report).at(0).times->memory_ns, 100);
  EXPECT_EQ(plot_layers(report).at(0).times->compute_ns, 2);
  model.self.flops = model.self.types["fp32"] = 60000;
  EXPECT_EQ(plot_layers(report).at(0).precision, "fp32");
  // Of what was counted, the type with most of it.
  EXPECT_EQ(plot_layers(one_kernel().done()).at(0).precision, "fp32");
  MadeReport none = one_kernel();
  none.report.ceilings[0].name = "fp64";
  EXPECT_EQ(plot_layers(none.done()).at(0).precision, "fp32");
  none.report.ceilings[1].value = 0;
  EXPECT_FALSE(plot_layers(none.done()).at(0).times);
}

TEST(PlotRows, RowsWithoutALayer) {
  MadeReport made;
  made.add_kernel(0, "k", 10, 0, 0);
  Report report = made.done();
  report.kernels[0].layer = 77;
  const PlotRow row = plot_layers(report).at(0);
  EXPECT_EQ(row.layer, nullptr);
  EXPECT_EQ(row.name, "(no layer)");
  EXPECT_EQ(row.direction, Direction::none);
  RowQuery query;
  EXPECT_EQ(plot_rows(report, query).size(), 1u);
  query.layers = {Pattern::parse("net").pattern};
  EXPECT_TRUE(plot_rows(report, query).empty());
}

}  // namespace
}  // namespace gable::tests

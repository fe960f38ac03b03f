// SPDX-License-Identifier: Apache-2.0
// Parts of the table, of reports put together by hand. Numbers and names are asserted on.
#include <gtest/gtest.h>

#include "tests/unit/has_text.h"
#include "tools/show/table.h"
#include "tools/show/table_rows.h"

namespace gable {
namespace {

// Layers a and b, of 400 and 100 ns a step.
Report report() {
  Report report;
  report.run.unit = Unit::step;
  report.run.complete = true;
  report.run.steps.seen = 10;
  report.run.total.flops = 3e9;
  report.run.total.bytes_dram = 1.5e9;
  report.run.total.gpu_time_ns = 5000;
  report.run.total.flops_per_s = 4e12;
  report.run.total.basis_note = "all of it";
  report.layers.resize(3);
  report.layers[0].coverage = {1, 1, 1};
  report.layers[0].flops.total = 1;
  for (const std::int64_t id : {1, 2}) {
    LayerRow& layer = report.layers[static_cast<std::size_t>(id)];
    layer.id = id;
    layer.parent = 0;
    layer.path = {id == 1 ? "a" : "b"};
    layer.depth = 1;
    KernelRow& kernel = report.kernels.emplace_back();
    kernel.layer = id;
    kernel.name = id == 1 ? "k" : "m";
    kernel.launches = 1;
    kernel.time_mean_ns = kernel.time_total_ns = id == 1 ? 400 : 100;
  }
  return report;
}

std::string shown(const std::vector<Report>& reports, const TableOptions& options = {}) {
  return render_table(reports, options);
}
std::string line(const std::string& text, std::size_t number) {
  std::size_t at = 0;
  for (; number > 0; --number) at = text.find('\n', at) + 1;
  return text.substr(at, text.find('\n', at) - at);
}

TEST(TableParts, TheWholeProgramOverItsProcesses) {
  Report one = report(), other = report();
  one.run.total.basis = Basis::measured;
  EXPECT_EQ(line(shown({one}), 0),
            "3.00 GFLOP, 1.50 GB DRAM, 2.00 FLOP/B, 5.00 us GPU, 4.00 TFLOP/s (measured)");
  EXPECT_EQ(line(shown({one}), 1), "all of it");
  other.run.total.basis = Basis::extrapolated;
  other.run.total.gpu_time_ns = 15000;
  other.run.total.flops_per_s = 8e12;
  // (5 us x 4 + 15 us x 8) / 20 us
  EXPECT_EQ(line(shown({one, other}), 0),
            "6.00 GFLOP, 3.00 GB DRAM, 2.00 FLOP/B, 20.0 us GPU, 7.00 TFLOP/s (extrapolated)");
  EXPECT_EQ(line(shown({one, other}), 1), "2 processes; all of it");
  other.run.total.flops_per_s.reset();
  EXPECT_TRUE(has(line(shown({one, other}), 0), ", - FLOP/s "));
  other.run.total.flops_per_s = 8e12;
  other.run.total.gpu_time_ns.reset();
  EXPECT_TRUE(has(line(shown({other, one}), 0), ", - FLOP/s "));
  one.run.total.bytes_dram = 0;
  EXPECT_TRUE(has(line(shown({one}), 0), "- FLOP/B"));
  one.run.total.bytes_dram = 5;
  one.layers[0].coverage.flops = 0.5;
  EXPECT_TRUE(has(line(shown({one}), 0), "- FLOP/B"));
  one.run.total = {};
  EXPECT_TRUE(has(line(shown({one}), 0), "GPU time unknown, - FLOP/s"));
  one.run.complete = false;
  EXPECT_TRUE(line(shown({one}), 0).starts_with("[unfinished] "));
}

TEST(TableParts, WhereStepsAreFromThePeriodIsSaid) {
  Report one = report(), other = report();
  EXPECT_FALSE(has(shown({one}), "period"));
  one.run.steps.period = 12;
  EXPECT_TRUE(has(line(shown({one}), 2), "period of 12 launches"));
  EXPECT_FALSE(has(shown({one, other}), "period"));
  other.run.steps.period = 12;
  EXPECT_TRUE(has(shown({one, other}), "period of 12 launches"));
  other.run.steps.period = 13;
  EXPECT_TRUE(has(shown({one, other}), "period of 12 or 13 launches"));
  other.run.unit = Unit::run;
  EXPECT_FALSE(has(shown({one, other}), "period"));
}

TEST(TableParts, TheOrderIsNamed) {
  const std::pair<SortBy, const char*> orders[] = {
      {SortBy::saving, "longest first"},          {SortBy::time, "longest first"},
      {SortBy::fraction, "below the roof first"}, {SortBy::flops, "most FLOP first"},
      {SortBy::bytes, "most DRAM bytes first"},   {SortBy::name, "by name"}};
  for (const auto& [sort, says] : orders) {
    TableOptions options;
    options.query.sort = sort;
    EXPECT_TRUE(has(shown({report()}, options), "2 of 2 layers, " + std::string(says)) ||
                has(shown({report()}, options), std::string(says) + ";"))
        << says;
  }
  Report saving = report();
  saving.kernels[0].saving_ns = 5;
  TableOptions options;
  options.query.sort = SortBy::time;
  EXPECT_TRUE(has(shown({saving}, options), "longest first; saving per step:"));
  options.rows = 1;
  EXPECT_TRUE(has(shown({saving}, options), "\n1 of 2 layers"));
  EXPECT_FALSE(has(shown({saving}, options), "\nb "));
  saving.run.unit = Unit::run;
  EXPECT_TRUE(has(shown({saving}, options), "saving per run:"));
  EXPECT_TRUE(has(shown({saving, report()}, options), "saving per run:"));
  saving.step.exposed.emplace();
  EXPECT_TRUE(has(shown({saving}, options), "saving per run:"));
  saving.run.unit = Unit::step;
  EXPECT_TRUE(has(shown({saving}, options), "how much shorter"));
}

TEST(TableParts, GapsAreTheLargestOfAllProcesses) {
  Report one = report(), other = report();
  one.layers[0].coverage = {0.9, 0.8, 1};
  other.layers[0].coverage = {1, 1, 0.7};
  const std::string text = shown({one, other});
  EXPECT_FALSE(has(text, "Nothing was lost"));
  EXPECT_TRUE(has(text, "\nUnknown: times of 10.0 % of") && has(text, ", FLOPs of 20.0 % of") &&
              has(text, ", bytes of 30.0 % of the time.\n"))
      << text;
  EXPECT_TRUE(has(shown({report()}), "\nNothing was lost.\n"));
  one = report();
  one.kernels[0].flags = one.kernels[1].flags = {"overlapped"};
  EXPECT_TRUE(has(shown({one}), "; 2 layers overlapped"));
  EXPECT_FALSE(has(shown({report()}), "overlapped"));
}

TEST(TableParts, ColoursAreForTerminals) {
  TableOptions options;
  options.colours = true;
  Report one = report();
  EXPECT_TRUE(shown({one}, options).starts_with("\x1b[1m3.00 GFLOP")) << shown({one}, options);
  EXPECT_TRUE(has(shown({one}, options), "\nNothing was lost.\n"));
  one.run.complete = false;
  one.run.lost.records = 1;
  EXPECT_TRUE(shown({one}, options).starts_with("\x1b[35m[unfinished]"));
  EXPECT_TRUE(has(shown({one}, options), "\n\x1b[31mLost: 1 record.\x1b[0m\n"));
  options.colours = false;
  EXPECT_FALSE(has(shown({one}, options), "\x1b"));
}

TEST(TableParts, WhatANarrowTerminalHasNoRoomForIsNamed) {
  Report one = report();
  for (KernelRow& kernel : one.kernels) {
    SetMetrics& metrics = kernel.metrics.emplace();
    metrics.occupancy = metrics.warp_efficiency = metrics.l1_hit_rate = metrics.l2_hit_rate =
        metrics.sectors_per_load = metrics.compute_throughput = metrics.memory_throughput = 0.5;
  }
  for (LayerRow& layer : one.layers) layer.metrics = one.kernels[0].metrics;
  TableOptions options;
  options.columns = 300;
  EXPECT_FALSE(has(shown({one}, options), "Columns left out"));
  options.columns = 60;
  EXPECT_TRUE(has(shown({one}, options), "\nColumns left out (terminal too narrow): "));
}

TEST(TableParts, CopiesAreSaidToBeEqual) {
  Report other = report();
  EXPECT_FALSE(has(shown({report()}), "equal"));
  EXPECT_TRUE(has(shown({report(), other}), "\nAll 2 reports are equal: "));
  other.kernels[0].time_total_ns = 401;
  EXPECT_FALSE(has(shown({report(), other}), "equal"));
  EXPECT_TRUE(has(shown({report(), other, report()}), "\n1 report equals another: "));
}

TEST(TableParts, WithoutTimesThereIsWork) {
  Report one = report();
  one.run.total = {};
  one.run.total.flops = 6e9;
  one.run.total.bytes_dram = 3e9;
  one.layers[0].coverage = {0, std::nullopt, std::nullopt};
  for (KernelRow& kernel : one.kernels) {
    kernel.time_mean_ns = kernel.time_total_ns = std::nullopt;
    kernel.flops.total = kernel.name == "m" ? 4e9 : 2e9;
    kernel.bytes.dram = 1.5e9;
  }
  std::string text = shown({one});
  EXPECT_TRUE(line(text, 0).starts_with(
      "6.00 GFLOP, 3.00 GB DRAM, 2.00 FLOP/B, GPU time unknown, - FLOP/s"))
      << text;
  EXPECT_TRUE(has(text, "2 of 2 layers, most FLOP first;")) << text;
  EXPECT_TRUE(has(text, "\nb               -  4.00 G  1.50 GB    2.67  unknown")) << text;
  EXPECT_TRUE(has(text, "\na               -  2.00 G  1.50 GB    1.33  unknown")) << text;
  EXPECT_TRUE(has(text, "\nUnknown: all times.\n")) << text;
  EXPECT_FALSE(has(text, "Nothing was lost")) << text;
  one.kernels[1].flops = {};
  text = shown({one});
  EXPECT_TRUE(line(text, 0).starts_with("at least 6.00 GFLOP, 3.00 GB DRAM, - FLOP/B")) << text;
  EXPECT_TRUE(has(text, "\nUnknown: all times, FLOPs of 50.0 % of the launches.\n")) << text;
  EXPECT_TRUE(has(text, "\nb               -       -  1.50 GB       -  unknown")) << text;
}

TEST(TableParts, KernelsHaveTheirLayerBesideThem) {
  TableOptions options;
  options.query.kernels = true;
  EXPECT_TRUE(has(shown({report()}, options), "\nkernel  layer "));
  EXPECT_TRUE(has(shown({report()}, options), "\nk       a ")) << shown({report()}, options);
  EXPECT_TRUE(has(shown({report()}, options), "\nm       b "));
  Report one = report();
  one.kernels[1].layer = 1;
  EXPECT_TRUE(has(shown({one}, options), "\nkernel  ") && !has(shown({one}, options), " layer "))
      << "one layer tells no kernels apart";
}

TEST(TableParts, WhatIsUnknownMakesRoomForNames) {
  Report one = report();
  TableOptions options;
  options.columns = 80;
  EXPECT_FALSE(has(shown({one}, options), "Unknown in all")) << "there is room for all of it";
  one.kernels[0].name = "a_kernel_with_a_name_that_is_forty_letters";
  options.query.kernels = true;
  const std::string text = shown({one}, options);
  EXPECT_TRUE(has(text, "\na_kernel_with_a_name_that_is_forty_letters  a ")) << text;
  EXPECT_TRUE(
      has(text, "Unknown in all of these rows: TFLOP/s, GB/s, FLOP/B, bound, of roof, saving.\n"))
      << text;
  EXPECT_TRUE(has(text, "\n2 of 2 kernels, longest first:\n")) << "nothing of savings: " << text;
}

TEST(TableParts, OfAdviceTheFirstItemsAreShown) {
  Report one = report();
  one.ceilings = {{0, CeilingKind::compute, "fp32", 1e12, "theoretical"},
                  {0, CeilingKind::memory, "dram", 1e12, "theoretical"}};
  TableOptions options;
  options.advice = 0;
  EXPECT_FALSE(has(shown({one}, options), "What would help"));
  options.notes = 0;
  one.run.notes = {"a note"};
  EXPECT_FALSE(has(shown({one}, options), "a note"));
  options.notes = 1;
  EXPECT_TRUE(has(shown({one}, options), "Note: a note\n"));
  EXPECT_FALSE(has(shown({one}, options), "more note"));
}

TEST(TableParts, ByFormulaIsExplained) {
  EXPECT_FALSE(has(shown({report()}), "analytic"));
  Report one = report();
  for (LayerRow& layer : one.layers) {
    layer.flops = {};
    layer.launches = 1;
    LayerModel& model = layer.model.emplace();
    model.bytes_per_s = 5;
    model.flops_per_s = 7e12;
    model.intensity = 3;
    model.roof.fraction = 0.25;
    model.saving_ns = 40;
  }
  RowQuery query;
  query.depth = 1;
  const TableRows rows = table_rows({one}, query);
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_TRUE(rows.analytic);
  EXPECT_EQ(rows.rows[0].sum.intensity.dram, 3);
  EXPECT_EQ(rows.rows[0].sum.bytes_per_s, 5);
  EXPECT_EQ(rows.rows[0].sum.roof.fraction, 0.25);
  EXPECT_EQ(rows.rows[0].sum.saving_ns, 40);
  TableOptions options;
  options.query = query;
  EXPECT_TRUE(has(shown({one}, options), "\nanalytic: "));
  EXPECT_TRUE(has(shown({one}, options), "by formula,\nbytes of "));
}

TEST(TableParts, RowsKnowTheirDeviceProcessAndKernel) {
  Report one = report();
  one.run.pid = 77;
  one.kernels[1].flags = {"tensor_inferred"};
  for (std::size_t i = 1; i < 3; ++i) one.layers[i].device = one.kernels[i - 1].device = 3;
  one.layers[1].direction = one.kernels[0].direction = Direction::forward;
  const std::vector<Report> reports = {one};
  TableRows rows = table_rows(reports, {});
  ASSERT_EQ(rows.rows.size(), 2u);
  const TableRow &a = rows.rows[0], &b = rows.rows[1];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.process, "77");
  EXPECT_EQ(a.device, 3);
  EXPECT_EQ(a.direction, Direction::forward);
  EXPECT_EQ(b.direction, Direction::none);
  ASSERT_NE(a.layer, nullptr);
  EXPECT_EQ(a.layer->id, 1);
  EXPECT_EQ(a.rank_time, 4000);
  EXPECT_DOUBLE_EQ(*a.share, 0.8);
  EXPECT_TRUE(b.tensor_inferred);
  EXPECT_TRUE(rows.several_directions);
  EXPECT_FALSE(rows.several_devices);
  RowQuery query;
  query.kernels = true;
  rows = table_rows({one}, query);
  EXPECT_TRUE(rows.kernels);
  EXPECT_EQ(rows.rows[0].name, "k");
  query = {};
  query.depth = 1;
  one.layers[1].launches = one.layers[2].launches = 1;
  rows = table_rows({one}, query);
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(rows.rows[0].device, 3);
  EXPECT_NE(rows.rows[0].layer, nullptr);
  one.layers[2].launches = 0;
  EXPECT_EQ(table_rows({one}, query).rows.size(), 1u) << "nothing ran in it";
  one.layers[2].time_total_ns = 5;
  EXPECT_EQ(table_rows({one}, query).rows.size(), 2u);
}

TEST(TableParts, GraphsTimesAreThoseOfOtherRows) {
  Report one = report();
  KernelRow& graph = one.kernels.emplace_back(one.kernels[0]);
  graph.name = "graph 1";
  graph.graph = 1;
  for (KernelRow& kernel : one.kernels) kernel.time_source = TimeSource::time;
  graph.time_total_ns = 5000;
  const TableRows rows = table_rows({one}, {});
  ASSERT_EQ(rows.rows.size(), 3u);
  double shares = 0;
  int again = 0;
  for (const TableRow& row : rows.rows) {
    shares += row.share.value_or(0);
    again += row.counts_again ? 1 : 0;
    EXPECT_EQ(row.counts_again, has(row.name, "graph 1")) << row.name;
    EXPECT_NE(row.counts_again, row.share.has_value());
  }
  EXPECT_DOUBLE_EQ(shares, 1);
  EXPECT_EQ(again, 1);
}

}  // namespace
}  // namespace gable

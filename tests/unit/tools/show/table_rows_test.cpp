// SPDX-License-Identifier: Apache-2.0
// Rows of several reports in one table: over whole runs, whatever unit each report has.
#include "tools/show/table_rows.h"

#include <gtest/gtest.h>

#include "analysis/roofline/layer_sum.h"

namespace gable {
namespace {

// A layer with one kernel. Of so many steps, or of a run.
Report report_of(const char* layer, std::int64_t rank, std::uint64_t steps, double time_ns,
                 double saving_ns) {
  Report report;
  report.run.rank = rank;
  report.run.unit = steps > 0 ? Unit::step : Unit::run;
  report.run.steps.seen = steps;
  report.ceilings = {{0, CeilingKind::compute, "fp32", 1e12, "theoretical"},
                     {0, CeilingKind::memory, "dram", 1e12, "theoretical"}};
  report.layers.resize(2);
  LayerRow &root = report.layers[0], &row = report.layers[1];
  root.direction = row.direction = Direction::none;
  row.id = 1;
  row.parent = 0;
  row.path = {layer};
  row.depth = 1;
  KernelRow& kernel = report.kernels.emplace_back();
  kernel.layer = 1;
  kernel.name = "k";
  kernel.direction = Direction::none;
  kernel.launches = 1;
  kernel.time_mean_ns = kernel.time_total_ns = time_ns;
  kernel.time_source = TimeSource::time;
  kernel.flops.fp32 = kernel.flops.total = (time_ns - saving_ns) * 1000;  // at the roof
  kernel.bytes.dram = 0;
  kernel.saving_ns = saving_ns;
  return report;
}

std::vector<std::string> names(const TableRows& rows) {
  std::vector<std::string> found;
  found.reserve(rows.rows.size());
  for (const TableRow& row : rows.rows) found.push_back(row.name);
  return found;
}

TEST(TableRowsOf, AreSortedAndSharedOverWholeRuns) {
  // a: 10 steps, saves 30 each. b: one run, saves 200. c: 100 steps, saves 1 each.
  const std::vector<Report> reports = {
      report_of("a", 0, 10, 40, 30), report_of("b", 1, 0, 500, 200), report_of("c", 2, 100, 1, 1)};
  RowQuery query;
  query.sort = SortBy::saving;
  auto rows = table_rows(reports, query);
  EXPECT_EQ(names(rows), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(rows.by_saving);
  EXPECT_EQ(rows.rows[0].rank_saving, 300);
  EXPECT_EQ(rows.rows[1].rank_saving, 200);
  EXPECT_EQ(rows.rows[2].rank_saving, 100);
  EXPECT_EQ(rows.rows[0].rank_time, 400);
  EXPECT_DOUBLE_EQ(*rows.rows[0].share, 0.4);
  EXPECT_DOUBLE_EQ(*rows.rows[1].share, 0.5);
  EXPECT_DOUBLE_EQ(*rows.rows[2].share, 0.1);
  query.sort = SortBy::time;
  EXPECT_EQ(names(table_rows(reports, query)), (std::vector<std::string>{"b", "a", "c"}));
  EXPECT_EQ(rows.rows[0].process, "rank 0");
  EXPECT_FALSE(rows.several_devices);
  EXPECT_FALSE(rows.several_directions);
}

TEST(TableRowsOf, EqualRowsKeepTheirOrder) {
  std::vector<Report> reports;
  std::vector<std::string> expected;
  for (int i = 0; i < 40; ++i) {
    expected.push_back(std::string(1, static_cast<char>('a' + i % 26)) + std::to_string(i));
    reports.push_back(report_of(expected.back().c_str(), i, 10, 40, 30));
  }
  for (const SortBy sort : {SortBy::saving, SortBy::time, SortBy::flops}) {
    RowQuery query;
    query.sort = sort;
    EXPECT_EQ(names(table_rows(reports, query)), expected);
  }
}

TEST(TableRowsOf, WithoutALayerKernelsAreShown) {
  Report report = report_of("a", 0, 10, 40, 30);
  EXPECT_TRUE(table_rows({report}, {}).kernels);  // one layer is none
  Report other = report_of("b", 1, 10, 40, 30);
  EXPECT_FALSE(table_rows({report, other}, {}).kernels);
  RowQuery query;
  query.kernels = true;
  EXPECT_TRUE(table_rows({report, other}, query).kernels);
}

TEST(TableRowsOf, AStepThatNobodySawCountsAsOne) {
  Report report = report_of("a", 0, 0, 40, 30);
  EXPECT_EQ(units_of(report), 1);
  report.run.unit = Unit::step;
  EXPECT_EQ(units_of(report), 1);
  report.run.steps.seen = 7;
  EXPECT_EQ(units_of(report), 7);
  report.run.unit = Unit::run;
  EXPECT_EQ(units_of(report), 1);
}

TEST(TableRowsOf, DevicesAndDirectionsAreColumnsWhereThereAreSeveral) {
  Report one = report_of("a", 0, 10, 40, 30), other = report_of("b", 1, 10, 40, 30);
  for (LayerRow& row : other.layers) row.device = 1;
  other.kernels[0].device = 1;
  other.layers[1].direction = other.kernels[0].direction = Direction::backward;
  const auto rows = table_rows({one, other}, {});
  EXPECT_TRUE(rows.several_devices);
  EXPECT_TRUE(rows.several_directions);
}

// net > block > conv, and kernels in all three.
Report nested() {
  Report report = report_of("net", 0, 10, 100, 30);
  for (const char* name : {"block", "conv"}) {
    LayerRow row = report.layers.back();
    row.path.emplace_back(name);
    row.parent = row.id++;
    ++row.depth;
    report.layers.push_back(row);
    KernelRow kernel = report.kernels.back();
    kernel.layer = row.id;
    kernel.flags = {"tensor_inferred"};
    report.kernels.push_back(kernel);
  }
  sum_layers(report, Roofline(report.ceilings));
  return report;
}

TEST(TableRowsOf, OfADepthHaveAllThatIsBelowThem) {
  RowQuery query;
  query.depth = 2;
  const std::vector<Report> reports = {nested()};
  TableRows rows = table_rows(reports, query);
  EXPECT_EQ(names(rows), (std::vector<std::string>{"net/block/*", "net"}));
  EXPECT_EQ(rows.rows[0].sum.time_total_ns, 200);
  EXPECT_DOUBLE_EQ(*rows.rows[0].share, 2.0 / 3);
  EXPECT_EQ(rows.rows[0].rank_saving, 10 * 60);
  EXPECT_TRUE(rows.rows[0].tensor_inferred);
  EXPECT_FALSE(rows.rows[1].tensor_inferred);
  EXPECT_EQ(rows.rows[1].sum.time_total_ns, 100);
  query.depth = 3;
  EXPECT_EQ(names(table_rows(reports, query)),
            (std::vector<std::string>{"net", "net/block", "net/block/conv"}));
  query.depth = 1;
  EXPECT_EQ(names(table_rows(reports, query)), (std::vector<std::string>{"net/*"}));
  query.depth = 0;
  EXPECT_EQ(names(table_rows(reports, query)), (std::vector<std::string>{"(all)"}));
}

TEST(TableRowsOf, OfADepthAreByFormulaWhereNothingWasCounted) {
  Report report = nested();
  for (KernelRow& kernel : report.kernels) {
    kernel.flops = {};
    kernel.bytes = {};
  }
  sum_layers(report, Roofline(report.ceilings));
  LayerModel& model = report.layers[2].model.emplace();
  model.bytes_per_s = 5;
  model.flops_per_s = 7;
  model.saving_ns = 40;
  RowQuery query;
  query.depth = 2;
  const TableRows rows = table_rows({report}, query);
  ASSERT_EQ(rows.rows[0].name, "net/block/*");
  EXPECT_TRUE(rows.rows[0].analytic);
  EXPECT_EQ(rows.rows[0].sum.flops_per_s, 7);
  EXPECT_EQ(rows.rows[0].rank_saving, 400);
}

}  // namespace
}  // namespace gable

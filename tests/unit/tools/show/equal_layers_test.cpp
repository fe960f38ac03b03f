// SPDX-License-Identifier: Apache-2.0
// Equal layers share a row, and its numbers are those of all of them.
#include "tools/show/equal_layers.h"

#include <gtest/gtest.h>

#include "tests/unit/has_text.h"
#include "tools/show/table.h"

namespace gable {
namespace {

// Blocks 0, 1 … with one layer each, of these times.
Report blocks(const std::vector<double>& times, const std::string& layer = "mlp") {
  Report report;
  report.run.unit = Unit::step;
  report.run.complete = true;
  report.run.steps.seen = 10;
  report.ceilings = {{0, CeilingKind::compute, "fp32", 1e12, "theoretical"},
                     {0, CeilingKind::memory, "dram", 1e12, "theoretical"}};
  report.layers.emplace_back().coverage = {1, 1, 1};
  for (std::size_t i = 0; i < times.size(); ++i) {
    LayerRow& row = report.layers.emplace_back();
    row.id = static_cast<std::int64_t>(i) + 1;
    row.parent = 0;
    row.path = {"net", std::to_string(i), layer};
    row.depth = 3;
    KernelRow& kernel = report.kernels.emplace_back();
    kernel.layer = row.id;
    kernel.name = "k" + std::to_string(i);
    kernel.launches = 2;
    kernel.time_mean_ns = times[i] / 2;
    kernel.time_total_ns = times[i];
    kernel.time_source = TimeSource::time;
    kernel.flops.fp32 = kernel.flops.total = 200'000;  // of one launch
    kernel.bytes.dram = 100'000;
  }
  return report;
}

std::vector<TableRow> rows(const Report& report, bool each = false) {
  RowQuery query;
  query.each = each;
  return table_rows({report}, query).rows;
}

TEST(EqualLayers, HaveOneRowWithTheNumbersOfAll) {
  const Report report = blocks({1e6, 1.2e6, 1.1e6});
  const auto apart = rows(report, true);
  ASSERT_EQ(apart.size(), 3u);
  for (const TableRow& row : apart) EXPECT_EQ(row.count, 1u);
  const auto shown = rows(report);
  ASSERT_EQ(shown.size(), 1u);
  const TableRow& row = shown[0];
  EXPECT_EQ(row.count, 3u);
  EXPECT_EQ(row.name, "net/{0..2}/mlp");
  EXPECT_DOUBLE_EQ(*row.share, 1);
  EXPECT_DOUBLE_EQ(*row.sum.time_total_ns, 3.3e6);
  EXPECT_DOUBLE_EQ(*row.sum.launches, 6);
  EXPECT_DOUBLE_EQ(*row.sum.flops.total, 1.2e6);
  EXPECT_DOUBLE_EQ(*row.sum.flops_per_s, 1.2e6 / 3.3e-3);
  EXPECT_DOUBLE_EQ(*row.sum.bytes_per_s, 0.6e6 / 3.3e-3);
  EXPECT_DOUBLE_EQ(*row.sum.intensity.dram, 2);
  EXPECT_DOUBLE_EQ(*row.sum.roof.fraction, 3 * 0.4e3 / 3.3e6);
  double saving = 0;
  for (const TableRow& one : apart) saving += *one.sum.saving_ns;
  EXPECT_DOUBLE_EQ(*row.sum.saving_ns, saving);
  EXPECT_DOUBLE_EQ(row.rank_saving, 10 * saving);
  EXPECT_DOUBLE_EQ(row.rank_time, 10 * 3.3e6);
}

TEST(EqualLayers, DifferByTheirWorkTimeOrPlace) {
  EXPECT_EQ(rows(blocks({1e6, 1.33e6})).size(), 1u);
  EXPECT_EQ(rows(blocks({1e6, 1.34e6})).size(), 2u) << "more than a quarter of the longer";
  const auto changed = [](auto change) {
    Report report = blocks({1e6, 1e6});
    change(report.layers[2], report.kernels[1]);
    return rows(report).size();
  };
  EXPECT_EQ(changed([](LayerRow&, KernelRow&) {}), 1u);
  EXPECT_EQ(changed([](LayerRow& layer, KernelRow&) { layer.path[2] = "norm"; }), 2u);
  EXPECT_EQ(changed([](LayerRow& layer, KernelRow&) { layer.path.emplace_back("mlp"); }), 2u);
  EXPECT_EQ(changed([](LayerRow& layer, KernelRow&) { layer.direction = Direction::backward; }),
            2u);
  EXPECT_EQ(changed([](LayerRow&, KernelRow& kernel) { kernel.launches = 3; }), 2u);
  EXPECT_EQ(changed([](LayerRow&, KernelRow& kernel) {
              kernel.flops.total = kernel.flops.fp32 = 201'900;
            }),
            1u);
  EXPECT_EQ(changed([](LayerRow&, KernelRow& kernel) {
              kernel.flops.total = kernel.flops.fp32 = 203'000;
            }),
            2u);
  EXPECT_EQ(changed([](LayerRow&, KernelRow& kernel) { kernel.flops = {}; }), 2u) << "unknown";
  EXPECT_EQ(changed([](LayerRow& layer, KernelRow& kernel) { layer.device = kernel.device = 1; }),
            2u);
}

TEST(EqualLayers, WhatIsUnknownIsEqualToNothing) {
  Report report = blocks({1e6, 1e6, 1e6});
  for (KernelRow& kernel : report.kernels) kernel.flops = {};
  EXPECT_EQ(rows(report).size(), 1u) << "their bytes are known";
  for (KernelRow& kernel : report.kernels) kernel.bytes = {};
  EXPECT_EQ(rows(report).size(), 3u);
}

TEST(EqualLayers, ByFormulaTheirWorkIsWhatTheFormulaSays) {
  const auto by_formula = [](double flops) {
    Report report = blocks({1e6, 1e6});
    for (std::size_t i = 0; i < 2; ++i) {
      report.kernels[i].flops = {};
      report.kernels[i].bytes = {};
      LayerRow& layer = report.layers[i + 1];
      layer.coverage.time = 1;
      layer.time_self_ns = 1e6;
      LayerModel& model = layer.model.emplace();
      model.self.flops = model.self.types["fp32"] = i == 0 ? 4e5 : flops;
      model.self.bytes = 1e5;
      model.flops_per_s = model.bytes_per_s = 1;
    }
    return rows(report).size();
  };
  EXPECT_EQ(by_formula(4e5), 1u);
  EXPECT_EQ(by_formula(8e5), 2u);
}

TEST(EqualLayers, OfSeveralReportsStayApart) {
  const Report report = blocks({1e6, 1e6});
  const TableRows table = table_rows({report, report}, {});
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.layers, 4u);
  EXPECT_EQ(table_rows({blocks({1e6, 3e6})}, {}).layers, 0u) << "nothing is folded";
}

TEST(EqualLayers, WhatAllOfThemSaveIsAtMostWhatTheyHaveOnThePath) {
  Report report = blocks({1e6, 1e6});
  report.step.exposed.emplace();
  for (std::size_t i = 0; i < 2; ++i) {
    report.kernels[i].path_ns = 600'000;
    report.layers[i + 1].step_saving_self = StepSaving{100'000, 300'000};
  }
  const auto shown = rows(report);
  ASSERT_EQ(shown.size(), 1u);
  ASSERT_TRUE(shown[0].sum.step_saving);
  EXPECT_DOUBLE_EQ(shown[0].sum.step_saving->low_ns, 100'000);
  EXPECT_DOUBLE_EQ(shown[0].sum.step_saving->high_ns, 1'200'000);
}

TEST(EqualLayers, AreSaidToBeInOneRow) {
  TableOptions options;
  std::string text = render_table({blocks({1e6, 1e6, 5e6})}, options);
  EXPECT_TRUE(has(text, "\n2 of 2 rows for 3 layers, ")) << text;
  EXPECT_TRUE(has(text, "\nnet/{0,1}/mlp  x2 ")) << text;
  EXPECT_TRUE(has(text, " --each lists them.\n")) << text;
  options.query.each = true;
  text = render_table({blocks({1e6, 1e6, 5e6})}, options);
  EXPECT_TRUE(has(text, "\n3 of 3 layers, ")) << text;
  EXPECT_FALSE(has(text, "--each")) << text;
}

TEST(EqualLayers, AreNamedByWhatTheirPathsShare) {
  using Paths = std::vector<std::vector<std::string>>;
  EXPECT_EQ(name_of_paths(Paths{{"a", "1", "c"}, {"a", "2", "c"}}), "a/{1,2}/c");
  EXPECT_EQ(name_of_paths(Paths{{"a", "10"}, {"a", "9"}, {"a", "11"}}), "a/{9..11}");
  EXPECT_EQ(name_of_paths(Paths{{"a", "10"}, {"a", "2"}, {"a", "5"}}), "a/{2,5,10}");
  EXPECT_EQ(name_of_paths(Paths{{"1"}, {"3"}, {"5"}, {"9"}}), "*");
  EXPECT_EQ(name_of_paths(Paths{{"layer1"}, {"layer12"}}), "layer{1,12}");
  EXPECT_EQ(name_of_paths(Paths{{"q", "mm"}, {"v", "mm"}}), "{q,v}/mm");
  EXPECT_EQ(name_of_paths(Paths{{"Block_0", "Mlp_0"}, {"Block_1", "Mlp_1"}}), "Block_{0,1}/Mlp_*");
  EXPECT_EQ(name_of_paths(Paths{{"layer1", "0"}, {"layer1", "1"}, {"layer2", "0"}}),
            "layer{1,2}/{0,1}");
  EXPECT_EQ(name_of_paths(Paths{{std::string(30, 'x') + "1y"}, {std::string(30, 'z') + "1y"}}),
            "*y");
  EXPECT_EQ(name_of_paths(Paths{{"[a|warmup|b]", "mm"}, {"[a|measure|b]", "mm"}}),
            "[a|{measure,warmup}|b]/mm");
  EXPECT_EQ(name_of_paths(Paths{{"x"}, {"xx"}}), "x{,x}");
}

}  // namespace
}  // namespace gable

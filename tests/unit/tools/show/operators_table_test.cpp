// SPDX-License-Identifier: Apache-2.0
// The table of operators.
#include "tools/show/operators_table.h"

#include <gtest/gtest.h>

#include "tests/unit/has_text.h"

namespace gable {
namespace {

Report with_operators() {
  Report report;
  report.run.source = Source::playback;
  LayerRow layer;
  layer.id = 1;
  layer.path = {"Net", "fc"};
  report.layers = {layer};
  OperatorRow mm;
  mm.layer = 1;
  mm.direction = Direction::forward;
  mm.name = "aten::mm";
  mm.inputs = {{"float32", {2, 3}}, {"int64", {}}};
  mm.place = "train.py:3 in step";
  mm.calls = 2;
  mm.launches = 2;
  mm.time_ns = 1500;
  mm.flops_analytic = 2e9;
  OperatorRow back = mm;
  back.direction = Direction::backward;
  back.name = "aten::\x1b[31mmm";
  back.time_ns = 2500;
  back.flops_analytic.reset();
  back.place.clear();
  back.shared = true;
  report.operators = {mm, back};
  return report;
}

TEST(OperatorsTable, LongestFirstWithWhatIsKnown) {
  OperatorsTable options;
  options.columns = 200;
  const std::string out = render_operators({with_operators()}, options);
  EXPECT_TRUE(out.starts_with("[playback] PyTorch's operators, 2 of 2, ")) << out;
  EXPECT_LT(out.find("Net/fc  bac  aten::\\x1b[31mmm*"), out.find("Net/fc  for  aten::mm ")) << out;
  EXPECT_TRUE(has(out, "float32[2,3], int64[]"));
  EXPECT_TRUE(has(out, "1.50 us"));
  EXPECT_TRUE(has(out, "2.00 G"));
  EXPECT_TRUE(has(out, "train.py:3 in step"));
  EXPECT_TRUE(has(out, "*: other operators launch"));
  EXPECT_TRUE(has(out, "nothing known): counted.")) << out;
  EXPECT_FALSE(has(out, "\x1b"));
  options.rows = 1;
  const std::string one = render_operators({with_operators()}, options);
  EXPECT_TRUE(has(one, "1 of 2"));
  EXPECT_FALSE(has(one, "aten::mm"));
}

// The same call in blocks 0, 1 … which takes this long, ns.
Report of_blocks(const std::vector<Maybe>& times) {
  Report report;
  for (std::size_t i = 0; i < times.size(); ++i) {
    LayerRow& layer = report.layers.emplace_back();
    layer.id = static_cast<std::int64_t>(i);
    layer.path = {"Net", std::to_string(i), "fc"};
    OperatorRow& row = report.operators.emplace_back();
    row.layer = layer.id;
    row.name = "aten::mm";
    row.inputs = {{"float32", {2, 3}}};
    row.calls = 1;
    row.launches = 2;
    row.time_ns = times[i];
    row.flops_analytic = 1e9;
  }
  return report;
}

TEST(OperatorsTable, EqualLayersHaveOneRowWithTheSumsOfAll) {
  OperatorsTable options;
  options.columns = 200;
  const Report report = of_blocks({1000, 1200, 5000, 1100});
  const std::string out = render_operators({report}, options);
  EXPECT_TRUE(has(out, "2 of 2, ")) << out << "one takes another time";
  EXPECT_TRUE(has(out, "Net/2/fc ")) << out;
  const auto row = out.find("Net/{0,1,3}/fc ");
  ASSERT_NE(row, std::string::npos) << out;
  const std::string line = out.substr(row, out.find('\n', row) - row);
  EXPECT_TRUE(has(line, "3.30 us")) << line;
  EXPECT_TRUE(has(line, "3.00 G")) << line;
  EXPECT_TRUE(has(line, "  6.00  ")) << line << "kernels";
  options.each = true;
  EXPECT_TRUE(has(render_operators({report}, options), "4 of 4, "));
}

TEST(OperatorsTable, WhatDiffersInMoreThanItsLayerStaysApart) {
  for (const auto& change : std::initializer_list<void (*)(OperatorRow&)>{
           [](OperatorRow& row) { row.name = "aten::add"; },
           [](OperatorRow& row) {
             row.inputs[0].sizes = {4, 3};
           },
           [](OperatorRow& row) { row.place = "a.py:1 in f"; },
           [](OperatorRow& row) { row.calls = 2; }, [](OperatorRow& row) { row.launches = 3; },
           [](OperatorRow& row) { row.device = 1; },
           [](OperatorRow& row) { row.direction = Direction::backward; },
           [](OperatorRow& row) { row.flops = 1; },
           [](OperatorRow& row) { row.flops_analytic = 1; },
           [](OperatorRow& row) { row.time_ns.reset(); }}) {
    Report report = of_blocks({1000, 1000});
    EXPECT_TRUE(has(render_operators({report}, {}), "1 of 1, "));
    change(report.operators[1]);
    EXPECT_TRUE(has(render_operators({report}, {}), "2 of 2, ")) << render_operators({report}, {});
  }
  // Nor do those of two reports, which are of two processes.
  EXPECT_TRUE(has(render_operators({of_blocks({1000}), of_blocks({1000})}, {}), "2 of 2, "));
  Report unknown = of_blocks({std::nullopt, std::nullopt});
  EXPECT_TRUE(has(render_operators({unknown}, {}), "1 of 1, "));
}

TEST(OperatorsTable, OnlyThoseWithinTheLayers) {
  OperatorsTable options;
  options.layers = {Pattern::parse("fc").pattern};
  EXPECT_TRUE(has(render_operators({with_operators()}, options), "2 of 2"));
  options.layers = {Pattern::parse("other").pattern};
  EXPECT_EQ(render_operators({with_operators()}, options), "");
  EXPECT_TRUE(render_operators({Report()}, {}).empty());
}

}  // namespace
}  // namespace gable

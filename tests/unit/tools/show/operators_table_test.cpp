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

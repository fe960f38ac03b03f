// SPDX-License-Identifier: Apache-2.0
// What holds memory: the chart and the table.
#include "tools/show/memory_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/base/display.h"
#include "tests/unit/has_text.h"

namespace gable {
namespace {

Report with_memory() {
  Report report;
  report.run.source = Source::playback;
  LayerRow layer;
  layer.id = 1;
  layer.path = {"Net", "fc"};
  layer.direction = Direction::backward;
  report.layers = {layer};
  MemoryOfStep& memory = report.memory.emplace();
  for (std::int64_t at = 0; at < 40; ++at)
    memory.timeline.push_back(
        {at, 1, "aten::mm", 1e6 * static_cast<double>(at < 20 ? at : 40 - at)});
  memory.begin = memory.timeline.front();
  memory.peak = memory.timeline[20];
  memory.end = memory.timeline.back();
  for (const char* block : {"0", "1", "2", "5"})
    memory.held.push_back({HeldFor::activations, std::nullopt, {"Net", block, "fc"}, 4e6, 1});
  memory.held.push_back({HeldFor::optimizer_state, std::nullopt, {}, 3e6, 2});
  return report;
}

TEST(MemoryTable, SaysHowMuchWhereAndForWhat) {
  const std::string out = render_memory({with_memory()}, {"a.json"}, {});
  EXPECT_TRUE(out.starts_with("[playback] Memory of a step on device 0, as the sum of the tensors"))
      << out;
  EXPECT_TRUE(has(out,
                  "0 B when the model begins, 20.0 MB at most in Net/fc (backward), after "
                  "aten::mm, 1.00 MB at the end"))
      << out;
  EXPECT_TRUE(has(
      out,
      "At the most: activations 16.0 MB, optimizer state 3.00 MB, not seen in tensors 1.00 MB."))
      << out;
  EXPECT_TRUE(has(out, "Net/*/fc")) << out;
  EXPECT_TRUE(has(out, "80.0 %")) << out;
  EXPECT_FALSE(has(out, "The allocator")) << out;
  EXPECT_FALSE(has(out, "a.json")) << "there is one report";
}

TEST(MemoryTable, TheChartRisesAndFalls) {
  MemoryTable options;
  options.columns = 60;
  const std::string out = render_memory({with_memory()}, {"a.json"}, options);
  const auto begin = out.find("20.0 MB ┤");
  ASSERT_NE(begin, std::string::npos) << out;
  const std::string top = out.substr(begin, out.find('\n', begin) - begin);
  EXPECT_TRUE(top.ends_with("█") || top.ends_with("▁") || top.ends_with("▃")) << top;
  EXPECT_NEAR(static_cast<double>(display_width(top)), 9 + 24, 2) << "the peak is in the middle";
  EXPECT_TRUE(has(out, "operators of the step, 0 to 39")) << out;
  for (std::size_t at = 0; at < out.size();) {
    const auto end = out.find('\n', at);
    EXPECT_LE(display_width(out.substr(at, end - at)), 60u) << out;
    at = end + 1;
  }
}

TEST(MemoryTable, EachLayerWhereThatIsAskedFor) {
  MemoryTable options;
  options.each = true;
  const std::string out = render_memory({with_memory()}, {"a.json"}, options);
  EXPECT_TRUE(has(out, "Net/5/fc")) << out;
  EXPECT_TRUE(has(out, "5 of 5")) << out;
}

TEST(MemoryTable, TensorsThatExplainTooMuchSayNothingOfTheRest) {
  Report report = with_memory();
  report.memory->held.push_back({HeldFor::parameters, std::nullopt, {"Net"}, 9e6, 1});
  report.memory->allocator_peak = 3e7;
  report.memory->source = MemorySource::allocator;
  MemoryTable options;
  options.columns = 300;
  const std::string out = render_memory({report, Report()}, {"a.json", "b.json"}, options);
  EXPECT_TRUE(has(out, "together more than there is")) << out;
  EXPECT_FALSE(has(out, "not seen in tensors")) << out;
  EXPECT_TRUE(has(out, "30.0 MB at most since the program began")) << out;
  EXPECT_TRUE(has(out, "of a.json, as PyTorch's allocator counts it")) << out;
  EXPECT_TRUE(render_memory({Report()}, {"b.json"}, {}).empty());
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What `gable check` prints and writes.
#include <gtest/gtest.h>

#include "tests/unit/has_text.h"
#include "tools/compare/compare_output.h"

namespace gable::tests {
namespace {

using Lines = std::vector<std::string>;

GateFinding finding(GateVerdict verdict, const std::string& name) {
  return {.verdict = verdict, .what = Gated::time, .name = name, .values = {100, 150}};
}

GateResult result_of(std::size_t unknown) {
  GateResult result;
  result.findings = {finding(GateVerdict::worse, "w"), finding(GateVerdict::unclear, "u")};
  for (std::size_t i = 0; i < unknown; ++i) {
    result.findings.push_back(finding(GateVerdict::unknown, "lost"));
    result.findings.back().values.b.reset();
  }
  result.compared = 12;
  return result;
}

TEST(CheckLines, ALineForEachFinding) {
  const Lines few = check_lines(result_of(8), {});
  ASSERT_EQ(few.size(), 10u);
  EXPECT_TRUE(few[0].starts_with("worse: w: time 100 ns -> 150 ns, +50.0 % (gate 5 %")) << few[0];
  EXPECT_TRUE(few[1].starts_with("unclear: u: "));
  EXPECT_TRUE(few[9].starts_with("unknown: lost: "));
  const Lines many = check_lines(result_of(10), {});
  ASSERT_EQ(many.size(), 11u);
  EXPECT_TRUE(many[10].starts_with("unknown: 2 more"));
  GateResult uniform = result_of(0);
  uniform.findings[0].together = true;
  uniform.uniform = GateUniform{GateVerdict::worse, 9, 10, 1.1, 1.2};
  const Lines together = check_lines(uniform, {.percent = 7});
  ASSERT_EQ(together.size(), 2u);
  EXPECT_TRUE(has(together[0], "worse: ") && has(together[0], " 1.10 to 1.20 ") &&
              has(together[0], "9 of 10") && has(together[0], "(gate 7 %)"))
      << together[0];
  EXPECT_TRUE(together[1].starts_with("unclear: u"));
}

TEST(CheckSummary, CountsOfEachVerdict) {
  GateResult result;
  result.compared = 1;
  const std::string none = check_summary(result, {.percent = 5, .what = {Gated::time}});
  EXPECT_TRUE(none.starts_with("1 number compared (time), 0 worse ")) << none;
  EXPECT_TRUE(none.ends_with(" 5 %.")) << none;
  result = result_of(3);
  result.small = 1;
  const std::string all = check_summary(result, {.what = {Gated::step, Gated::dram}});
  EXPECT_TRUE(all.starts_with("12 numbers compared (step, dram), 1 worse ")) << all;
  EXPECT_TRUE(has(all, " 5 %, 1 unclear")) << all;
  EXPECT_TRUE(has(all, ", 3 unknown")) << all;
  EXPECT_TRUE(has(all, "; 1 layers ")) << all;
}

ReportFiles files(std::size_t count) {
  ReportFiles made;
  made.reports.resize(count);
  for (std::size_t i = 0; i < count; ++i) made.paths.push_back("x/" + std::to_string(i) + ".json");
  return made;
}

TEST(CheckMarkdown, FilesAndRows) {
  EXPECT_EQ(shown_runs(files(3), 1, 2), "1.json");
  EXPECT_TRUE(has(shown_runs(files(3), 0, 2), " 2 runs (0.json, 1.json)"));
  GateResult result = result_of(10);
  result.findings[1].whole_ns = 200;
  result.findings[1].direction = Direction::backward;
  Comparison comparison;
  comparison.remarks = {"A remark."};
  const std::string text = check_markdown(files(3), 2, comparison, result, {});
  EXPECT_TRUE(text.starts_with("### gable check: 1 worse\n\n2.json against ")) << text;
  EXPECT_TRUE(has(text, "(0.json, 1.json)\n\n| | layer |")) << text;
  EXPECT_TRUE(has(text, "\n| worse | w | none | time | 100 ns | 150 ns | +50.0 % |\n")) << text;
  EXPECT_TRUE(has(text, " | u | backward | time | 100 ns | 150 ns | +25.0 % of the step |\n"))
      << text;
  std::size_t lost = 0;
  for (std::size_t at = text.find("| lost |"); at != std::string::npos;
       at = text.find("| lost |", at + 1))
    ++lost;
  EXPECT_EQ(lost, 8u);
  EXPECT_TRUE(has(text, "\n\n12 numbers compared")) << text;
  EXPECT_TRUE(text.ends_with("\n\nA remark.\n")) << text;
  EXPECT_FALSE(has(text, "\n- "));
}

TEST(CheckMarkdown, NothingWorseObstaclesAndWhatGrewAlike) {
  GateResult result;
  const std::string none = check_markdown(files(2), 1, {}, result, {});
  EXPECT_TRUE(has(none, ": nothing is worse\n\n1.json against 0.json\n\n0 numbers")) << none;
  EXPECT_FALSE(has(none, "| layer |"));
  result = result_of(0);
  result.findings.clear();
  result.obstacles = {"An obstacle."};
  const std::string obstacle = check_markdown(files(2), 1, {}, result, {});
  EXPECT_TRUE(obstacle.ends_with("0.json\n\n- An obstacle.\n")) << obstacle;
  EXPECT_FALSE(has(obstacle, "nothing is worse"));
  result = result_of(0);
  result.findings[0].together = true;
  result.uniform = GateUniform{GateVerdict::worse, 10, 10, 1.1, 1.1};
  const std::string uniform = check_markdown(files(2), 1, {}, result, {});
  EXPECT_TRUE(has(uniform, "\n\nworse: everything takes 1.10 times")) << uniform;
  EXPECT_FALSE(has(uniform, "| w |"));
  EXPECT_TRUE(has(uniform, "| u |"));
}

}  // namespace
}  // namespace gable::tests

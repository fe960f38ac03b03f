// SPDX-License-Identifier: Apache-2.0
// What `gable diff` prints and writes.
#include "tools/compare/compare_output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analysis/base/display.h"
#include "tests/unit/has_text.h"
#include "tests/unit/tools/made_report.h"

namespace gable::tests {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
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

ComparedRow row_of(const std::string& name, const Maybe& before, const Maybe& after) {
  ComparedRow row;
  row.name = name;
  row.time_ns = {before, after};
  row.launches = {2, 2};
  return row;
}

// slow: twice as long; fast: half, of half the launches; new; noisy.
Comparison four_rows() {
  Comparison all;
  ComparedRow whole = row_of("", 300, 340);
  whole.noise_ns = 4;
  whole.flops = {1e9, 2e9};
  whole.dram = {3e6, 4e6};
  all.wholes = {whole};
  ComparedRow slow = row_of("slow", 100, 200);
  slow.direction = Direction::backward;
  slow.flops = {10, 11};
  slow.dram = {10, 8};
  slow.fraction = {0.5, 0.25};
  slow.saving_ns = {50, 150};
  slow.share = 0.25;
  slow.noise_ns = 1;
  ComparedRow fast = row_of("fast", 80, 40);
  fast.launches = {2, 1};
  fast.match = Match::renamed;
  fast.before = "old";
  ComparedRow added = row_of("added", std::nullopt, 95);
  added.match = Match::added;
  ComparedRow noisy = row_of("noisy", 120, 126);
  noisy.noise_ns = 7;
  noisy.direction = Direction::forward;
  all.layers = {slow, fast, added, noisy};
  all.kernels = {slow};
  all.kernels[0].match = Match::reshaped;
  all.kernels[0].layer = "in";
  return all;
}

ReportFiles files() {
  ReportFiles made;
  Report report;
  report.run.unit = Unit::step;
  made.reports = {report, report};
  made.reports[1].run.source = Source::playback;
  made.paths = {"dir/a.json", "dir/b.json"};
  return made;
}

Lines names(const Comparison& all, const DiffOptions& options) {
  Lines found;
  for (const ComparedRow* row : diff_rows(all, options)) found.push_back(row->name);
  return found;
}

TEST(DiffRows, InTheirOrder) {
  const Comparison all = four_rows();
  EXPECT_EQ(names(all, {}), (Lines{"slow", "added", "fast", "noisy"}));
  EXPECT_EQ(names(all, {.order = DiffOrder::time}), (Lines{"slow", "noisy", "added", "fast"}));
  EXPECT_EQ(names(all, {.order = DiffOrder::name}), (Lines{"added", "fast", "noisy", "slow"}));
  EXPECT_EQ(names(all, {.kernels = true}), (Lines{"slow"}));
}

TEST(DiffRows, OfNamedLayersAndWithoutLayersOfKernels) {
  Comparison all = four_rows();
  LayerRow layer;
  layer.path = {"net"};
  all.layers[1].layer_row = &layer;
  DiffOptions options;
  options.layers = {Pattern::parse("net").pattern};
  EXPECT_EQ(names(all, options), (Lines{"fast"}));
  all.layers.resize(2);
  EXPECT_EQ(names(all, {}).size(), 2u);
  all.layers.resize(1);
  all.kernels[0].name = "kernel";
  EXPECT_EQ(names(all, {}), (Lines{"kernel"}));
}

TEST(DiffTable, EveryColumn) {
  const Lines lines = lines_of(diff_table(files(), four_rows(), {.columns = 200}));
  ASSERT_GT(lines.size(), 9u);
  EXPECT_TRUE(lines[0].ends_with("A: dir/a.json")) << lines[0];
  EXPECT_TRUE(lines[1].ends_with("B: dir/b.json")) << lines[1];
  EXPECT_TRUE(has(lines[0], "[playback]"));
  EXPECT_TRUE(lines[2].starts_with("300 ns -> 340 ns ")) << lines[2];
  EXPECT_TRUE(has(lines[2],
                  "(+13.3 %, noise 4.00 ns), 1.00 GFLOP -> 2.00 GFLOP, 3.00 MB -> 4.00 "
                  "MB DRAM"))
      << lines[2];
  EXPECT_EQ(lines[3], "");
  EXPECT_TRUE(lines[4].starts_with("4 layers, 1 new, 1 renamed; 4 shown, ")) << lines[4];
  EXPECT_EQ(words(lines[5]),
            "layer dir time A time B change launches a launch FLOP DRAM roof A roof B saving A "
            "saving B");
  EXPECT_EQ(words(lines[6]),
            "slow bac 100 ns 200 ns +100 % 0 % +100 % +10.0 % -20.0 % 50.0 % 25.0 % 50.0 ns 150 "
            "ns");
  EXPECT_EQ(words(lines[7]), "added - - 95.0 ns new 0 % - - - - - - -");
  EXPECT_EQ(words(lines[8]), "fast - 80.0 ns 40.0 ns -50.0 % -50.0 % 0 % - - - - - -");
  EXPECT_EQ(words(lines[9]), "noisy for 120 ns 126 ns ~+5.00 % 0 % ~+5.00 % - - - - - -");
  EXPECT_EQ(lines[10], "");
  EXPECT_EQ(lines[11], "renamed: old -> fast");
}

TEST(DiffTable, FewerColumnsAndRows) {
  Comparison all = four_rows();
  all.layers[1].launches = {2, 2};
  for (ComparedRow& row : all.layers) {
    row.direction = Direction::none;
    row.fraction = {};
    row.saving_ns.b.reset();
  }
  all.layers[0].device = 1;
  const std::string text = diff_table(files(), all, {.rows = 3, .columns = 200});
  const Lines lines = lines_of(text);
  EXPECT_TRUE(has(lines.at(4), "; 3 shown, ")) << lines[4];
  EXPECT_EQ(words(lines.at(5)), "layer gpu time A time B change FLOP DRAM saving A");
  EXPECT_EQ(words(lines.at(6)), "slow 1 100 ns 200 ns +100 % +10.0 % -20.0 % 50.0 ns");
  EXPECT_FALSE(has(text, "noisy "));
  EXPECT_TRUE(has(text, " roof A, roof B, saving B.")) << text;
  EXPECT_FALSE(has(text, "\x1b["));
  const std::string narrow = diff_table(files(), all, {.rows = 3, .columns = 50});
  for (const std::string& line : lines_of(narrow)) EXPECT_LE(display_width(line), 50u) << line;
  EXPECT_TRUE(has(narrow, "saving A")) << narrow;  // said below
  EXPECT_EQ(lines_of(diff_table(files(), all, {.rows = 9, .columns = 200})).size(),
            lines.size() + 1);
}

TEST(DiffTable, ColoursOfWhatGotWorseAndBetter) {
  Comparison all = four_rows();
  all.layers.push_back(row_of("same", 10, 10));
  all.layers.push_back(row_of("better", 10, 5));
  std::string text = diff_table(files(), all, {.columns = 200, .colours = true});
  std::erase(text, ' ');
  EXPECT_TRUE(has(text, "\x1b[31m+100%\x1b[0m"));
  EXPECT_TRUE(has(text, "\x1b[33mnew\x1b[0m"));
  EXPECT_TRUE(has(text, "40.0ns\x1b[33m-50.0%\x1b[0m"));  // of fewer launches
  EXPECT_TRUE(has(text, "5.00ns\x1b[32m-50.0%\x1b[0m"));
  EXPECT_TRUE(has(text, "126ns~+5.00%"));
  EXPECT_TRUE(has(text, "10.0ns0%")) << text;
}

TEST(DiffTable, WhatStandsAgainstIt) {
  Comparison all = four_rows();
  all.obstacles = {"An obstacle."};
  all.other_work = "B does half";
  all.throttled = {"A throttled (x)"};
  all.remarks = {"A remark."};
  const std::string text = diff_table(files(), all, {.columns = 200});
  for (const char* part : {"Careful: An obstacle.\n", "Careful: B does half",
                           "Careful: A throttled "
                           "(x), so "})
    EXPECT_TRUE(has(text, part)) << part;
  EXPECT_TRUE(text.ends_with("A remark.\n")) << text;
  all.clocks_agree = true;
  EXPECT_TRUE(has(diff_table(files(), all, {.columns = 200}), "A throttled (x), but "));
  const std::string markdown = diff_markdown(files(), all, {});
  for (const char* part :
       {"Careful: An obstacle.\n\n", "Careful: B does half.\n\n", "Careful: A throttled (x).\n\n"})
    EXPECT_TRUE(has(markdown, part)) << markdown;
}

TEST(DiffTable, StepsAndSeveralGpus) {
  Comparison all = four_rows();
  EXPECT_FALSE(has(diff_table(files(), all, {.columns = 200}), "\nstep"));
  all.step.wall_ns = {1000, 1500};
  all.step.noise_ns = 3;
  all.wholes.push_back(row_of("", 10, 20));
  all.wholes[1].device = 3;
  all.wholes[1].launches = {4, 2};
  std::string text = diff_table(files(), all, {.columns = 200});
  EXPECT_TRUE(has(text, "\nGPU 0: 300 ns -> 340 ns "));
  EXPECT_TRUE(has(text, "\nGPU 3: 10.0 ns -> 20.0 ns "));
  EXPECT_TRUE(has(text, "4 -> 2 launches (-50.0 %), +300 % a launch")) << text;
  EXPECT_TRUE(has(text, "\nstep: 1.00 us -> 1.50 us (+50.0 %, noise 3.00 ns)\n")) << text;
  all.step.noise_ns.reset();
  all.step.on_host = true;
  all.step.exposed_ns = {0, 0};
  text = diff_table(files(), all, {.columns = 200});
  EXPECT_TRUE(has(text, "host: 1.00 us -> 1.50 us (+50.0 %)\n")) << text;
  all.step.exposed_ns = {0, 0.5};
  text = diff_table(files(), all, {.columns = 200});
  EXPECT_TRUE(has(text, ": 0 ns -> 0.500 ns\n")) << text;
  all.step.exposed_ns.a.reset();
  EXPECT_TRUE(has(diff_table(files(), all, {.columns = 200}), "(+50.0 %)\n"));
  all.step.wall_ns.a.reset();
  EXPECT_FALSE(has(diff_table(files(), all, {.columns = 200}), "1.50 us"));
}

TEST(DiffTable, NoDifference) {
  Comparison all;
  all.wholes = {row_of("", 100, 100), row_of("", 200, 200)};
  all.layers = {row_of("a", 10, 10), row_of("b", 10, 10)};
  const std::string exact = diff_table(files(), all, {.columns = 200});
  EXPECT_TRUE(has(exact, ": 2 layers, 300 ns ")) << exact;
  EXPECT_FALSE(has(exact, "noise")) << exact;
  EXPECT_EQ(lines_of(exact).size(), 1u);
  all.wholes[1].time_ns.b = 201;
  all.wholes[1].noise_ns = 2;
  EXPECT_TRUE(has(diff_table(files(), all, {.columns = 200}), "noise"));
  all.wholes[1].time_ns.b = 200;
  all.step.wall_ns = {10, 11};
  all.step.noise_ns = 1;
  EXPECT_TRUE(has(diff_table(files(), all, {.columns = 200}), "noise"));
  all.wholes[1].time_ns = {};
  EXPECT_TRUE(has(diff_table(files(), all, {.columns = 200}), "at least 100 ns"));
}

TEST(DiffTable, EightRenamedLayersAreNamed) {
  Comparison all = four_rows();
  for (int i = 0; i < 7; ++i) {
    all.layers.push_back(row_of("r" + std::to_string(i), 1, 1));
    all.layers.back().match = Match::renamed;
    all.layers.back().before = "was";
  }
  const std::string eight = diff_table(files(), all, {.columns = 200});
  EXPECT_TRUE(has(eight, "renamed: was -> r6\n"));
  EXPECT_FALSE(has(eight, " more\n"));
  all.layers.push_back(all.layers.back());
  all.layers.push_back(all.layers.back());
  EXPECT_TRUE(has(diff_table(files(), all, {.columns = 200}), "renamed: 2 more\n"));
}

TEST(DiffMarkdown, ATable) {
  const std::string text = diff_markdown(files(), four_rows(), {.rows = 2});
  const Lines lines = lines_of(text);
  EXPECT_EQ(lines.at(0), "**[playback] a.json -> b.json**: 4 layers, 1 new, 1 renamed");
  EXPECT_EQ(lines.at(1), "");
  EXPECT_EQ(lines.at(2),
            "| layer | dir | time A | time B | change | FLOP | DRAM | roof A | roof B | saving A | "
            "saving B |");
  EXPECT_EQ(lines.at(3), "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
  EXPECT_EQ(lines.at(4),
            "| slow | bac | 100 ns | 200 ns | +100 % | +10.0 % | -20.0 % | 50.0 % | 25.0 % | 50.0 "
            "ns | 150 ns |");
  EXPECT_TRUE(lines.at(5).starts_with("| added | - | - | 95.0 ns | new |")) << lines[5];
  EXPECT_EQ(lines.at(6), "");
  // Of two rows less, one has no difference, and one no room.
  EXPECT_EQ(lines.at(7),
            "Left out: 1 layer without a difference beyond the noise. Also: 1 layer after the "
            "first 2 (`--top`).");
  EXPECT_EQ(lines.size(), 10u);
  const Lines kernels = lines_of(diff_markdown(files(), four_rows(), {.kernels = true}));
  EXPECT_TRUE(kernels.at(0).ends_with("1 kernel, 1 reshaped")) << kernels[0];
  EXPECT_TRUE(kernels.at(2).starts_with("| kernel |"));
  EXPECT_TRUE(kernels.at(4).starts_with("| slow (other shape) |"));
}

TEST(DiffMarkdown, RowsWithoutADifferenceAreLeftOutAndCounted) {
  Comparison all = four_rows();
  all.layers.push_back(row_of("same", 70, 70));
  EXPECT_TRUE(has(diff_markdown(files(), all, {}),
                  "\n\nLeft out: 2 layers without a difference beyond the noise.\n\n"));
  EXPECT_FALSE(has(diff_markdown(files(), all, {}), "| same |"));
  EXPECT_FALSE(has(diff_markdown(files(), all, {}), "| noisy |"));
  EXPECT_TRUE(has(diff_markdown(files(), all, {}), "| slow |"));
  // Who asks for another order asks for all rows.
  const std::string by_time = diff_markdown(files(), all, {.order = DiffOrder::time});
  EXPECT_TRUE(has(by_time, "| same |"));
  EXPECT_FALSE(has(by_time, "Left out"));
  // A table of nothing would be a heading alone; what differs here is the step.
  all.layers = {all.layers[3], all.layers[4]};
  all.step.wall_ns = {1000, 1500};
  const std::string none = diff_markdown(files(), all, {});
  EXPECT_TRUE(
      none.ends_with("\n\nstep: 1.00 us -> 1.50 us (+50.0 %)\n\nNo layer differs beyond the "
                     "noise. With `--sort time` they are listed.\n"))
      << none;
  EXPECT_FALSE(has(none, "|")) << none;
}

TEST(DiffJson, EveryNumber) {
  Comparison all = four_rows();
  all.obstacles = {"o"};
  all.remarks = {"r"};
  all.throttled = {"t"};
  all.step.wall_ns = {1000, 1500};
  all.step.noise_ns = 3;
  all.step.exposed_ns = {10, 20};
  all.step.idle_ns = {5, std::nullopt};
  const std::string text = diff_json(files(), all);
  EXPECT_TRUE(text.starts_with("{\n \"gable\": {\n  \"schema\":")) << text.substr(0, 60);
  const Json json = Json::parse(text);
  EXPECT_EQ(json["gable"]["kind"], "diff");
  EXPECT_EQ(json["a"], Json::parse(R"({"file": "dir/a.json", "source": "cupti", "unit": "step"})"));
  EXPECT_EQ(json["b"]["source"], "playback");
  EXPECT_EQ(json["obstacles"], Json({"o"}));
  EXPECT_EQ(json["remarks"], Json({"r"}));
  EXPECT_EQ(json["throttled"], Json({"t"}));
  EXPECT_TRUE(json["other_work"].is_null());
  EXPECT_EQ(json["step_wall_ns"],
            Json::parse(R"({"a": 1000.0, "b": 1500.0, "change": 0.5, "noise": 3.0})"));
  EXPECT_EQ(json["step_host_ns"],
            Json::parse(R"({"a": null, "b": null, "change": null, "noise": null})"));
  EXPECT_EQ(json["step_idle_ns"], Json::parse(R"({"a": 5.0, "b": null, "change": null})"));
  EXPECT_EQ(json["step_exposed_communication_ns"],
            Json::parse(R"({"a": 10.0, "b": 20.0, "change": 1.0})"));
  EXPECT_EQ(json["advice"], Json::array());
  EXPECT_EQ(json["wholes"].size(), 1u);
  EXPECT_EQ(json["layers"].size(), 4u);
  EXPECT_EQ(json["layers"][1]["before"], "old");
  EXPECT_FALSE(json["layers"][0].contains("before"));
  EXPECT_FALSE(json["layers"][0].contains("layer"));
  EXPECT_EQ(json["kernels"], Json::parse(R"([{"name": "slow", "match": "reshaped", "layer": "in",
    "direction": "backward", "device": 0,
    "time_ns": {"a": 100.0, "b": 200.0, "change": 1.0, "noise": 1.0},
    "launches": {"a": 2.0, "b": 2.0, "change": 0.0},
    "time_per_launch_ns": {"a": 50.0, "b": 100.0, "change": 1.0},
    "flops": {"a": 10.0, "b": 11.0, "change": 0.10000000000000009},
    "bytes_dram": {"a": 10.0, "b": 8.0, "change": -0.19999999999999996},
    "roof_fraction": {"a": 0.5, "b": 0.25, "change": -0.5},
    "saving_ns": {"a": 50.0, "b": 150.0, "change": 2.0}, "time_share": 0.25, "within_noise": false}])"));
  all.step.on_host = true;
  all.other_work = "w";
  const Json host = Json::parse(diff_json(files(), all));
  EXPECT_EQ(host["step_host_ns"]["b"], 1500.0);
  EXPECT_TRUE(host["step_wall_ns"]["a"].is_null());
  EXPECT_EQ(host["other_work"], "w");
}

}  // namespace
}  // namespace gable::tests

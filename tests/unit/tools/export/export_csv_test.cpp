// SPDX-License-Identifier: Apache-2.0
// CSV and Markdown.
#include <gtest/gtest.h>

#include "analysis/base/number_text.h"
#include "analysis/roofline/set_metrics.h"
#include "tests/unit/has_text.h"
#include "tests/unit/tools/whole_kernel.h"
#include "tools/export/export.h"
#include "tools/plot/plot.h"

namespace gable::tests {
namespace {

ExportOptions kernels() {
  ExportOptions options;
  options.query.kernels = true;
  return options;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  return lines;
}

using Column = std::pair<std::string, std::string>;

// Those of one_kernel(), as far as a layer has them too.
const std::vector<Column> kSum = {{"direction", "forward"},
                                  {"device", "0"},
                                  {"launches", "2"},
                                  {"time_ns", "20"},
                                  {"time_source", "time"},
                                  {"share", "1"},
                                  {"flops", "10000"},
                                  {"dram_bytes", "800"},
                                  {"l2_bytes", "1600"},
                                  {"l1_bytes", "3200"},
                                  {"flop_per_byte_dram", "12.5"},
                                  {"flop_per_byte_l2", "6.25"},
                                  {"flop_per_byte_l1", "3.125"},
                                  {"flop_per_s", "5e+11"},
                                  {"dram_bytes_per_s", "4e+10"},
                                  {"roof_fraction", "0.5"},
                                  {"bound", "compute"},
                                  {"ceiling", "fp32"},
                                  {"level", ""},
                                  {"source", "theoretical"},
                                  {"saving_ns", "10"},
                                  {"path_ns", "7"}};

std::string csv(std::vector<Column> columns, std::vector<Column> metrics) {
  for (const NamedMetric& each : kSetMetrics)
    columns.emplace_back(each.name, std::string(each.name) == "occupancy" ? "0.5" : "");
  for (const std::string& kind : mix_kinds()) columns.emplace_back("mix_" + kind, "");
  for (const std::string& kind : memory_mix_kinds()) columns.emplace_back("memory_mix_" + kind, "");
  std::string head, row;
  for (auto& [name, value] : columns) {
    for (const auto& [metric, known] : metrics)
      if (metric == name) value = known;
    head += (head.empty() ? "" : ",") + name;
    row += (head == name ? "" : ",") + value;
  }
  return head + "\n" + row + "\n";
}

std::vector<Column> whole(std::vector<Column> first, const std::vector<Column>& last) {
  first.insert(first.end(), kSum.begin(), kSum.end());
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

TEST(ExportCsv, EveryColumnOfAKernel) {
  Report report = one_kernel().done();
  KernelRow& kernel = report.kernels[0];
  kernel.cluster = {0, 0, 0};  // not known
  kernel.time_min_ns = 8;
  kernel.time_max_ns = 14;
  kernel.metrics->mix = {{mix_kinds().front(), 0.25}};
  kernel.metrics->memory_mix = {{memory_mix_kinds().front(), 0.75}};
  CollectiveRow& exchange = kernel.collective.emplace();
  exchange.kind = Collective::all_gather;
  exchange.ranks = 8;
  exchange.bytes = 61;
  exchange.bus_bytes_per_s = 62;
  exchange.wait_ns = 63;
  exchange.transfer_ns = 64;
  exchange.others_wait_ns = 65;
  exchange.roof.fraction = 0.125;
  report.step.launch_latency_ns = 3;
  EXPECT_EQ(export_csv({report}, {"a,\"b\""}, kernels()),
            csv(whole({{"data", "playback"},
                       {"report", "\"a,\"\"b\"\"\""},
                       {"path", "net"},
                       {"name", "gemm"}},
                      {{"step_saving_low_ns", "3"},
                       {"step_saving_high_ns", "4"},
                       {"compute_time_ns", "20"},
                       {"memory_time_ns", "16"},
                       {"overhead_box_ns", "6"},
                       {"precision", "fp32"},
                       {"work", "counted"},
                       {"counts_again", "no"},
                       {"place", "kernels.py:12"},
                       {"grid", "8x4x2"},
                       {"block", "128x3x5"},
                       {"cluster", ""},
                       {"time_min_ns", "8"},
                       {"time_median_ns", "9"},
                       {"time_max_ns", "14"},
                       {"time_stddev_ns", "1.5"},
                       {"samples_time", "33"},
                       {"registers", "41"},
                       {"shared_bytes", "42"},
                       {"blocks_per_sm", "43"},
                       {"waves", "0.5"},
                       {"collective", "all_gather"},
                       {"ranks", "8"},
                       {"message_bytes", "61"},
                       {"bus_bytes_per_s", "62"},
                       {"wait_ns", "63"},
                       {"transfer_ns", "64"},
                       {"others_wait_ns", "65"},
                       {"link_fraction", "0.125"},
                       {"flags", "hfma_moves launches_differ"},
                       {"time_coverage", "1"},
                       {"flops_coverage", "1"},
                       {"dram_coverage", "1"}}),
                {{"mix_" + mix_kinds().front(), "0.25"},
                 {"memory_mix_" + memory_mix_kinds().front(), "0.75"}}));
}

TEST(ExportCsv, ALayerHasNothingThatOnlyKernelsHave) {
  EXPECT_EQ(export_csv({one_kernel().done()}, {"file"}, {}),
            csv(whole({{"data", "playback"}, {"report", "file"}, {"path", "net"}, {"name", "net"}},
                      {{"step_saving_low_ns", "1"},
                       {"step_saving_high_ns", "2"},
                       {"compute_time_ns", "20"},
                       {"memory_time_ns", "16"},
                       {"overhead_box_ns", ""},
                       {"precision", "fp32"},
                       {"work", "counted"},
                       {"counts_again", "no"},
                       {"place", ""},
                       {"grid", ""},
                       {"block", ""},
                       {"cluster", ""},
                       {"time_min_ns", ""},
                       {"time_median_ns", ""},
                       {"time_max_ns", ""},
                       {"time_stddev_ns", ""},
                       {"samples_time", ""},
                       {"registers", ""},
                       {"shared_bytes", ""},
                       {"blocks_per_sm", ""},
                       {"waves", ""},
                       {"collective", ""},
                       {"ranks", ""},
                       {"message_bytes", ""},
                       {"bus_bytes_per_s", ""},
                       {"wait_ns", ""},
                       {"transfer_ns", ""},
                       {"others_wait_ns", ""},
                       {"link_fraction", ""},
                       {"flags", ""},
                       {"time_coverage", "1"},
                       {"flops_coverage", "1"},
                       {"dram_coverage", "1"}}),
                {}));
}

TEST(ExportCsv, WhatIsUnknownIsEmpty) {
  MadeReport made;
  made.add_kernel(0, "k", 10, 0, 0);
  Report report = made.done();
  report.kernels[0].samples_time = 1;
  const std::string one = lines_of(export_csv({report}, {"f"}, kernels())).at(1);
  EXPECT_TRUE(has(one, ",1x1x1,1x1x1,1x1x1,,,,,1,,")) << one;  // sizes and the number of samples
  report.kernels[0].layer = 99;
  report.kernels[0].flops = {};
  report.kernels[0].bytes = {};
  const std::string two = lines_of(export_csv({report}, {"f"}, kernels())).at(1);
  EXPECT_TRUE(
      two.starts_with("playback,f,(no layer),k,none,0,1,10,time,1,,,,,,,,,,,unknown,,,,,,,,,,,,"))
      << two;
}

TEST(ExportCsv, RowsOfEachReport) {
  MadeReport made;
  made.add_kernel(0, "=HYPERLINK()", 10, 0, 0).graph = 1;
  made.add_kernel(0, "-a\"b", 20, 0, 0);
  made.add_kernel(0, "two\nlines", 30, 0, 0);
  Report first = made.done(), second = first;
  second.run.source = Source::imported;
  ExportOptions options = kernels();
  options.query.sort = SortBy::name;
  const auto names = [&](std::size_t rows) {
    options.rows = rows;
    std::vector<std::string> found;
    for (const PlotRow& row : exported_rows(first, options)) found.push_back(row.name);
    return found;
  };
  const std::vector<std::string> all = {"-a\"b", "=HYPERLINK()", "two\nlines"};
  EXPECT_EQ(names(0), all);
  EXPECT_EQ(names(3), all);
  EXPECT_EQ(names(4), all);
  EXPECT_EQ(names(2), (std::vector<std::string>{"-a\"b", "=HYPERLINK()"}));
  EXPECT_EQ(names(1), (std::vector<std::string>{"-a\"b"}));
  EXPECT_EQ(exported_rows(first, ExportOptions{}).size(), 2u);

  options.rows = 0;
  const std::string text = export_csv({first, second}, {"+one", ""}, options);
  const auto lines = lines_of(text);
  ASSERT_EQ(lines.size(), 9u);  // a name has a line break
  EXPECT_TRUE(lines[1].starts_with("playback,'+one,(no layer),\"'-a\"\"b\",none,"));
  EXPECT_TRUE(lines[2].starts_with("playback,'+one,(no layer),'=HYPERLINK(),none,"));
  EXPECT_TRUE(has(lines[2], ",yes,"));
  EXPECT_TRUE(lines[3].starts_with("playback,'+one,(no layer),\"two"));
  EXPECT_TRUE(lines[4].starts_with("lines\",none"));
  EXPECT_TRUE(lines[5].starts_with("import,,(no layer),"));
  EXPECT_EQ(lines_of(export_csv({}, {}, {})).size(), 1u);
}

// Head and rows, without the rule between them.
std::vector<std::string> table_lines(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  std::erase_if(lines, [](const std::string& line) { return !line.starts_with("| "); });
  return lines;
}

TEST(ExportMarkdown, ARowForEachLayer) {
  MadeReport made = one_kernel();
  made.add_kernel(made.add_layer({"other"}), "b", 10, 0, 0).flops = {};
  const std::string text = export_markdown({made.done()}, {"a|b"}, {});
  const auto lines = lines_of(text), table = table_lines(text);
  EXPECT_TRUE(lines[0].starts_with("**[playback] a\\|b**: ")) << lines[0];
  EXPECT_TRUE(lines[0].ends_with("per step")) << lines[0];
  EXPECT_EQ(lines[1], "");
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[0],
            "| layer | direction | share | time | TFLOP/s | GB/s | FLOP/B | bound | of roof | "
            "saving | work |");
  EXPECT_TRUE(has(text, "\n|---|---|--:|--:|--:|--:|--:|---|--:|--:|---|\n"));
  EXPECT_EQ(table[1],
            "| net | forward | 66.7 % | 20.0 ns | 0.500 | 40.0 | 12.5 | compute | 50.0 % | 1.00 ns "
            "to 2.00 ns | counted |");
  EXPECT_TRUE(table[2].starts_with("| other | "));
}

TEST(ExportMarkdown, RowsAreThoseOfTheTable) {
  MadeReport made;
  for (const char* block : {"0", "1", "2"})
    made.add_kernel(made.add_layer({"block", block, "conv"}), "conv", 100, 1e6, 1e3);
  auto table = table_lines(export_markdown({made.done()}, {"f"}, {}));
  ASSERT_EQ(table.size(), 2u);
  EXPECT_TRUE(table[1].starts_with("| block/{0..2}/conv x3 | ")) << table[1];
  ExportOptions each;
  each.query.each = true;
  EXPECT_EQ(table_lines(export_markdown({made.done()}, {"f"}, each)).size(), 4u);
  // A single layer says less than its kernels.
  table = table_lines(export_markdown({one_kernel().done()}, {"f"}, {}));
  EXPECT_TRUE(table.at(0).starts_with("| kernel |")) << table[0];
  EXPECT_TRUE(table.at(1).starts_with("| gemm |")) << table[1];
}

TEST(ExportMarkdown, OfOtherLevelsAndKernels) {
  ExportOptions options = kernels();
  options.query.level = MemoryLevel::l2;
  const auto lines = lines_of(export_markdown({one_kernel().done()}, {"f"}, options));
  EXPECT_TRUE(has(lines.at(2), "| kernel |")) << lines[2];
  EXPECT_TRUE(has(lines[2], "| GB/s l2 | FLOP/B l2 |")) << lines[2];
  EXPECT_TRUE(has(lines.at(4), "| gemm | forward |")) << lines[4];
  EXPECT_TRUE(has(lines[4], "| 0.500 | 80.0 | 6.25 |")) << lines[4];
}

TEST(ExportMarkdown, TotalsOfEachReport) {
  Report report = one_kernel().done();
  report.run.total.flops = 3e9;
  report.run.total.bytes_dram = 2e6;
  report.run.total.gpu_time_ns = 4000;
  Report partial = report;
  partial.layers[0].coverage = {0.5, 0.5, 0.5};
  partial.layers[1].coverage = {0.5, 0.5, 0.5};
  partial.run.source = Source::cupti;
  const auto lines = lines_of(export_markdown({report, partial}, {"one", "two"}, {}));
  ASSERT_EQ(lines.size(), 13u);
  EXPECT_TRUE(has(lines[0], "on GPU, 3.00 GFLOP, 2.00 MB DRAM, 4.00 us GPU (measured)"))
      << lines[0];
  EXPECT_FALSE(has(lines[2], "known time"));
  EXPECT_EQ(lines[5], "");
  EXPECT_TRUE(lines[6].starts_with("**two**: ")) << lines[6];
  for (const char* part : {"at least 3.00 GFLOP", "at least 2.00 MB", "at least 4.00 us"})
    EXPECT_TRUE(has(lines[6], part)) << lines[6];
  EXPECT_TRUE(has(lines[8], "known time")) << lines[8];
}

TEST(ExportMarkdown, ATimeOfAPartSaysSo) {
  MadeReport made;
  const auto layer = made.add_layer({"net"});
  made.add_kernel(layer, "a", 10, 0, 0).flops = {};
  KernelRow& second = made.add_kernel(layer, "b", 10, 0, 0);
  second.time_mean_ns.reset();
  second.time_total_ns.reset();
  second.flops = {};
  made.add_kernel(made.add_layer({"short"}), "c", 1, 0, 0).flops = {};
  const auto all = lines_of(export_markdown({made.done()}, {"f"}, {}));
  std::vector<std::string> lines;
  for (const std::string& line : all)
    if (!line.starts_with("| short")) lines.push_back(line);
  EXPECT_TRUE(has(lines.at(lines.size() - 3), "| at least 10.0 ns | - |")) << lines[4];
  EXPECT_TRUE(lines.at(lines.size() - 3).ends_with("| - |")) << lines[4];  // not counted
}

TEST(ExportMarkdown, TheAnswerStandsBeforeTheRows) {
  MadeReport made;
  const auto layer = made.add_layer({"net"});
  for (const char* name : {"volta_sgemm_128x128_nn", "b|c"})
    made.add_kernel(layer, name, 1e6, 1e9, 1e3);
  made.report.step.wall_mean_ns = 4e6;
  made.report.step.idle_ns = 2e6;
  const auto lines = lines_of(export_markdown({made.done()}, {"f"}, {}));
  EXPECT_TRUE(lines.at(2).starts_with("A step: 4.00 ms, GPU busy 2.00 ms")) << lines[2];
  EXPECT_EQ(lines.at(3), "");
  EXPECT_TRUE(lines.at(4).starts_with("- **up to 2.00 ms**: ")) << lines[4];
  EXPECT_FALSE(has(lines.at(4), "Layers: ")) << lines[4];  // the rows tell where
}

TEST(ExportMarkdown, ACellCannotEndItself) {
  EXPECT_EQ(markdown_cell("a|b`c\nd"), "a\\|b\\`c d");
  EXPECT_EQ(markdown_cell("*_<>[]&\\"), "\\*\\_\\<\\>\\[\\]\\&\\\\");
  EXPECT_EQ(markdown_cell(std::string(120, 'x')), std::string(120, 'x'));
  const std::string cut = markdown_cell(std::string(121, 'x'));
  EXPECT_EQ(cut.size(), 119u + 3);  // one column is an ellipsis
}

}  // namespace
}  // namespace gable::tests

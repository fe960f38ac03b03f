// SPDX-License-Identifier: Apache-2.0
// The chart as a picture: where its axes, roofs and points lie.
#include "tools/export/export_svg.h"

#include <gtest/gtest.h>

#include "tests/unit/has_text.h"
#include "tests/unit/tools/made_report.h"
#include "tests/unit/tools/work_by_formula.h"

namespace gable::tests {
namespace {

using Lines = std::vector<std::string>;

// What is drawn, an element a line; only those that begin so.
Lines drawn(const std::string& svg, const std::string& begin = "<") {
  Lines lines;
  for (std::size_t at = svg.find("</style>\n") + 9; at < svg.size(); at = svg.find('\n', at) + 1) {
    const std::string line = svg.substr(at, svg.find('\n', at) - at);
    if (line.starts_with(begin) && !has(line, "y=\"44.00\"")) lines.push_back(line);
  }
  return lines;
}

// The line above the chart that says what points are.
std::string note(const std::string& svg) {
  const std::size_t at = svg.find("y=\"44.00\">");
  return svg.substr(at, svg.find("</text>", at) - at);
}

ExportOptions by_kernels() {
  ExportOptions options;
  options.query.kernels = true;
  return options;
}

std::string svg_of(const Report& report, const ExportOptions& options = by_kernels()) {
  return export_svg({report}, {"f"}, options);
}

// The axes go from 1 to 20 FLOP/byte, twice beyond relu and the ridge, and from 50 GFLOP/s to 2
// TFLOP/s. Points of less time lie on top of others.
TEST(ExportSvg, EveryElementOfAChart) {
  MadeReport made;
  const auto a = made.add_layer({"a"}, Direction::forward);
  const auto b = made.add_layer({"b"}, Direction::backward);
  made.add_kernel(a, "gemm", 70, 20000, 2000);
  made.add_kernel(b, "relu", 20, 2000, 1000);
  made.add_kernel(0, "fill", 5, 0, 50);
  made.add_kernel(0, "set", 5, 0, 100);
  made.report.ceilings.push_back(
      {0, CeilingKind::compute, "fp32", 2e12, "theoretical", SmClock::boost});
  made.report.ceilings.push_back({0, CeilingKind::compute, "bf16_tensor", 4e12, "theoretical"});
  made.report.ceilings.push_back({0, CeilingKind::memory, "l2", 5e11, "theoretical"});
  Report report = made.done();
  ExportOptions options = by_kernels();
  options.query.sort = SortBy::fraction;  // relu last
  const std::string grid = " stroke=\"#d5dae0\"/>";
  const std::string tick = "<text class=\"tick\" text-anchor=", note = "<text class=\"note\" ";
  EXPECT_EQ(
      drawn(svg_of(report, options)),
      (Lines{"<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>",
             "<text class=\"title\" text-anchor=\"start\" x=\"92.00\" y=\"24.00\">Gable [playback] "
             "f</text>",
             "<rect x=\"92.00\" y=\"64.00\" width=\"48.00\" height=\"506.00\" fill=\"#f4f6f8\"/>",
             note + "text-anchor=\"start\" x=\"94.00\" y=\"78.00\">0 FLOP</text>",
             note + "text-anchor=\"end\" x=\"138.00\" y=\"114.14\">100 %</text>",
             note + "text-anchor=\"end\" x=\"138.00\" y=\"267.43\">10.0 %</text>",
             note + "text-anchor=\"end\" x=\"138.00\" y=\"420.71\">1.00 %</text>",
             "<line class=\"grid\" x1=\"148.00\" y1=\"64.00\" x2=\"148.00\" y2=\"570.00\"" + grid,
             tick + "\"middle\" x=\"148.00\" y=\"588.00\">1.00</text>",
             "<line class=\"grid\" x1=\"779.81\" y1=\"64.00\" x2=\"779.81\" y2=\"570.00\"" + grid,
             tick + "\"middle\" x=\"779.81\" y=\"588.00\">10.0</text>",
             "<line class=\"grid\" x1=\"148.00\" y1=\"474.92\" x2=\"970.00\" y2=\"474.92\"" + grid,
             tick + "\"end\" x=\"84.00\" y=\"478.92\">100 G</text>",
             "<line class=\"grid\" x1=\"148.00\" y1=\"159.08\" x2=\"970.00\" y2=\"159.08\"" + grid,
             tick + "\"end\" x=\"84.00\" y=\"163.08\">1.00 T</text>",
             "<text class=\"title\" text-anchor=\"middle\" x=\"559.00\" y=\"614.00\">Arithmetic "
             "intensity at DRAM [FLOP/byte]</text>",
             "<text class=\"title\" text-anchor=\"middle\" transform=\"translate(22.00,317.00) "
             "rotate(-90.00)\">Performance [FLOP/s]</text>",
             "<line class=\"memory\" x1=\"148.00\" y1=\"474.92\" x2=\"779.81\" y2=\"159.08\" "
             "data-roof=\"DRAM\"/>",
             "<text class=\"label\" text-anchor=\"start\" transform=\"translate(337.54,374.17) "
             "rotate(-26.56)\">DRAM: 100 GB/s, theoretical</text>",
             "<line class=\"roof\" x1=\"779.81\" y1=\"159.08\" x2=\"970.00\" y2=\"159.08\" "
             "data-roof=\"fp32\"/>",
             "<text class=\"label\" text-anchor=\"end\" x=\"966.00\" y=\"154.08\">fp32: 1.00 "
             "TFLOP/s, theoretical</text>",
             "<circle class=\"dot bandwidth forward\" cx=\"779.81\" cy=\"330.92\" "
             "r=\"24.07\"><title>gemm "
             "(forward): 286 GFLOP/s, 70.0 % of the time, 28.6 % of the roof, limit: "
             "memory</title></circle>",
             "<circle class=\"dot bandwidth backward\" cx=\"338.19\" cy=\"474.92\" "
             "r=\"12.87\"><title>relu "
             "(backward): 100 GFLOP/s, 20.0 % of the time, 50.0 % of the roof, limit: "
             "memory</title></circle>",
             "<circle class=\"dot latency none\" cx=\"106.00\" cy=\"263.43\" "
             "r=\"6.43\"><title>fill (none): "
             "0 FLOP/s, 5.00 % of the time, 10.0 % of the roof, limit: latency</title></circle>",
             "<circle class=\"dot latency none\" cx=\"106.00\" cy=\"217.29\" r=\"6.43\"><title>set "
             "(none): "
             "0 FLOP/s, 5.00 % of the time, 20.0 % of the roof, limit: latency</title></circle>",
             "<rect class=\"bandwidth\" x=\"92.00\" y=\"623.00\" width=\"10\" height=\"10\"/>",
             note + "text-anchor=\"start\" x=\"108.00\" y=\"632.00\">memory</text>",
             "<rect class=\"latency\" x=\"172.00\" y=\"623.00\" width=\"10\" height=\"10\"/>",
             note + "text-anchor=\"start\" x=\"188.00\" y=\"632.00\">latency</text>",
             "</svg>"}));
}

TEST(ExportSvg, WithoutAComputeRoofTheMemoryRoofGoesOn) {
  MadeReport made;
  made.add_kernel(0, "k", 20, 2000, 1000);
  made.report.ceilings.erase(made.report.ceilings.begin());
  const std::string svg = svg_of(made.done());
  EXPECT_FALSE(has(svg, "<rect x="));  // no strip
  EXPECT_FALSE(has(svg, "class=\"roof\""));
  // From 1 to 4 FLOP/byte and from 50 to 200 GFLOP/s.
  EXPECT_EQ(
      drawn(svg, "<circle"),
      (Lines{"<circle class=\"dot unknown none\" cx=\"531.00\" cy=\"317.00\" r=\"28.77\"><title>k "
             "(none): 100 GFLOP/s, 100 % of the time, - of the roof, limit: "
             "unknown</title></circle>"}));
  EXPECT_EQ(drawn(svg, "<line class=\"memory\""),
            (Lines{"<line class=\"memory\" x1=\"92.00\" y1=\"317.00\" x2=\"970.00\" y2=\"-189.00\" "
                   "data-roof=\"DRAM\"/>"}));
}

TEST(ExportSvg, ARoofOfNothingIsNotDrawn) {
  MadeReport made;
  made.add_kernel(0, "k", 20, 2000, 1000);
  made.report.ceilings[1].value = 0;
  const std::string svg = svg_of(made.done());
  EXPECT_TRUE(drawn(svg, "<line class=\"memory\"").empty());
  EXPECT_TRUE(drawn(svg, "<line class=\"roof\"").empty());
  EXPECT_EQ(drawn(svg, "<circle").size(), 1u);
}

TEST(ExportSvg, WithoutAMemoryRoofTheComputeRoofIsWhole) {
  MadeReport made;
  made.add_kernel(0, "k", 20, 2000, 1000);
  made.report.ceilings.pop_back();
  const std::string svg = svg_of(made.done());
  EXPECT_TRUE(drawn(svg, "<line class=\"memory\"").empty());
  ASSERT_EQ(drawn(svg, "<line class=\"roof\"").size(), 1u);
  EXPECT_TRUE(has(drawn(svg, "<line class=\"roof\"")[0], "x1=\"92.00\""));
}

TEST(ExportSvg, RoofsOfSeveralReports) {
  MadeReport one, two, three;
  for (MadeReport* made : {&one, &two, &three}) made->add_kernel(0, "k", 20, 2000, 1000);
  two.report.ceilings[1].value = 3e11;  // the highest memory roof holds
  three.report.ceilings[1].value = 2e11;
  three.report.ceilings[0].value = 5e11;
  three.report.run.source = Source::cupti;
  const std::string svg =
      export_svg({one.done(), two.done(), three.done()}, {"f", "g", "h"}, by_kernels());
  EXPECT_EQ(drawn(svg, "<line class=\"roof\"").size(), 2u);  // that of the first two is one
  EXPECT_EQ(drawn(svg, "<circle").size(), 3u);
  EXPECT_TRUE(has(svg, ">DRAM: 300 GB/s, theoretical<"));
  EXPECT_TRUE(has(svg, ">fp32: 500 GFLOP/s, theoretical<"));
  EXPECT_TRUE(has(svg, "<title>Gable [playback, cupti] f g h</title>"));
  EXPECT_TRUE(has(export_svg({three.done()}, {"h"}, by_kernels()), "<title>Gable h</title>"));
}

TEST(ExportSvg, OtherLevels) {
  MadeReport made;
  KernelRow& kernel = made.add_kernel(0, "k", 20, 2000, 1000);
  kernel.bytes.l2 = 500;
  kernel.bytes.l1 = 250;
  made.report.ceilings.push_back({0, CeilingKind::memory, "l2", 4e11, "measured"});
  ExportOptions options = by_kernels();
  options.query.level = MemoryLevel::l2;
  const std::string l2 = svg_of(made.done(), options);
  EXPECT_TRUE(has(l2, " L2 [FLOP/byte]"));
  EXPECT_TRUE(has(l2, ">L2: 400 GB/s, measured<"));
  EXPECT_FALSE(has(l2, "DRAM"));
  // From 1.25, half of the ridge, to 8 FLOP/byte: log(3.2) / log(6.4).
  EXPECT_TRUE(has(l2, "cx=\"642.15\"")) << l2;
  options.query.level = MemoryLevel::l1;
  const std::string l1 = svg_of(made.done(), options);
  EXPECT_TRUE(has(l1, " L1 [FLOP/byte]"));
  EXPECT_TRUE(drawn(l1, "<line class=\"memory\"").empty());
  EXPECT_EQ(drawn(l1, "<circle").size(), 1u);
}

TEST(ExportSvg, WhatIsUnknownIsCounted) {
  MadeReport made;
  made.add_kernel(0, "known", 20, 2000, 1000);
  EXPECT_FALSE(has(note(svg_of(made.done())), "unknown"));
  made.add_kernel(0, "no bytes", 20, 2000, 1000).bytes = {};
  EXPECT_TRUE(has(note(svg_of(made.done())), ": 1")) << note(svg_of(made.done()));
  made.add_kernel(0, "no FLOPs", 20, 2000, 1000).flops = {};
  const std::string svg = svg_of(made.done());
  EXPECT_TRUE(has(note(svg), ": 2"));
  EXPECT_EQ(drawn(svg, "<circle").size(), 1u);
  // Without a FLOP and without bytes it has no roof.
  made.add_kernel(0, "nothing", 20, 0, 0).bytes = {};
  EXPECT_TRUE(has(note(svg_of(made.done())), ": 3"));
  EXPECT_FALSE(has(svg_of(made.done()), "0 FLOP<"));
}

TEST(ExportSvg, PointsHaveALeastSizeAndStayInTheStrip) {
  MadeReport made;
  made.add_kernel(0, "low", 1, 0, 0.01);
  made.add_kernel(0, "high", 2, 0, 1000);
  made.add_kernel(0, "long", 997, 0, 1000);
  made.add_kernel(0, "graph", 3, 0, 1000).graph = 1;  // it has no share
  const Lines circles = drawn(svg_of(made.done()), "<circle");
  ASSERT_EQ(circles.size(), 4u);
  EXPECT_TRUE(has(circles[0], "r=\"28.72\"")) << circles[0];
  EXPECT_TRUE(has(circles[1], "cy=\"64.00\" r=\"2.26\"><title>high")) << circles[1];
  EXPECT_TRUE(has(circles[2], "cy=\"570.00\" r=\"2.26\"><title>low")) << circles[2];
  EXPECT_TRUE(has(circles[3], "r=\"2.26\"><title>graph")) << circles[3];
}

TEST(ExportSvg, WorkByFormulaSaysSo) {
  const Lines circles = drawn(svg_of(work_by_formula(), {}), "<circle");
  ASSERT_EQ(circles.size(), 1u);
  EXPECT_TRUE(circles[0].starts_with("<circle class=\"dot compute none analytic\" cx="))
      << circles[0];
}

std::string name_in_svg(const std::string& name) {
  MadeReport made;
  made.add_kernel(0, name, 20, 2000, 1000);
  const std::string circle = drawn(svg_of(made.done()), "<circle").at(0);
  const std::size_t at = circle.find("<title>") + 7;
  return circle.substr(at, circle.find(" (none)") - at);
}

TEST(ExportSvg, NamesAreXml) {
  EXPECT_EQ(name_in_svg("a<b>&\"c\nd"), "a&lt;b>&amp;&quot;c d");
  EXPECT_EQ(name_in_svg("\xEF\xBF\xBE|\xEF\xBF\xBF|\xEF\xBF\xBD"),
            "\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD");
  EXPECT_EQ(name_in_svg("x\xEF\xBF\xBDy\xEF\xBE\xBEz"), "x\xEF\xBF\xBDy\xEF\xBE\xBEz");
  EXPECT_EQ(name_in_svg(std::string(200, 'x')), std::string(200, 'x'));
  EXPECT_EQ(name_in_svg(std::string(201, 'x')).size(), 199u + 3);
  MadeReport made;
  const std::string shown = "Gable [playback] ";
  const std::string name(110 - shown.size(), 'x');
  EXPECT_TRUE(has(export_svg({made.done()}, {name}, {}), "y=\"24.00\">" + shown + name + "<"));
  EXPECT_FALSE(has(export_svg({made.done()}, {name + "x"}, {}), "y=\"24.00\">" + shown + name));
}

TEST(ExportSvg, SharesOfTheKnownTimeSaySo) {
  MadeReport made;
  made.add_kernel(0, "k", 20, 2000, 1000);
  KernelRow& kernel = made.add_kernel(0, "l", 20, 2000, 1000);
  kernel.time_mean_ns.reset();
  kernel.time_total_ns.reset();
  EXPECT_TRUE(has(note(svg_of(made.done())), "known time"));
}

}  // namespace
}  // namespace gable::tests

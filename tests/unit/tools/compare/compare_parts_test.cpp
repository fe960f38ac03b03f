// SPDX-License-Identifier: Apache-2.0
// Which rows belong together, how much work was done, what chance makes, and whose GPU is whose.
#include <gtest/gtest.h>

#include "tests/unit/tools/made_report.h"
#include "tools/compare/compare_match.h"
#include "tools/compare/compare_noise.h"
#include "tools/compare/compare_work.h"
#include "tools/compare/same_device.h"

namespace gable::tests {
namespace {

TEST(CompareMatch, ShapesAsText) {
  KernelRow row;
  row.grid = {4, 2, 3};
  row.block = {128, 5, 6};
  EXPECT_EQ(shape_of(row), "grid 4x2x3, block 128x5x6");
  row.cluster = {2, 1, 1};
  row.dynamic_shared = 1;
  EXPECT_EQ(shape_of(row), "grid 4x2x3, block 128x5x6, cluster 2x1x1, 1 B of shared memory");
}

Report with_layers(const std::vector<std::pair<std::string, std::string>>& layers) {
  MadeReport made;
  for (const auto& [name, kernel] : layers)
    made.add_kernel(made.add_layer({name}), kernel, 10, 0, 0);
  return made.done();
}

// "a=a", "x>y" where renamed, "-b" gone, "+c" new.
std::vector<std::string> matched(const Report& a, const Report& b) {
  std::vector<std::string> out;
  for (const auto& [before, after] : match_layers(a, b).pairs) {
    const auto name = [](const LayerRow* row) {
      return row->path.empty() ? std::string("root") : row->path.back();
    };
    out.push_back(before == nullptr  ? "+" + name(after)
                  : after == nullptr ? "-" + name(before)
                                     : name(before) + ">" + name(after));
  }
  return out;
}

TEST(CompareMatch, LayersByPathThenByTheirKernels) {
  using Names = std::vector<std::string>;
  const Report a = with_layers({{"p", "k"}, {"x1", "m"}, {"x2", "m"}, {"gone", "n"}});
  EXPECT_EQ(matched(a, with_layers({{"y1", "m"}, {"p", "other"}, {"y2", "m"}, {"new", "o"}})),
            (Names{"root>root", "x1>y1", "p>p", "x2>y2", "+new", "-gone"}));
  // One of two that are alike: nobody knows which.
  EXPECT_EQ(matched(a, with_layers({{"p", "k"}, {"y1", "m"}, {"gone", "n"}})),
            (Names{"root>root", "p>p", "+y1", "gone>gone", "-x1", "-x2"}));
  Report launched = with_layers({{"p", "k"}, {"y1", "m"}, {"y2", "m"}, {"gone", "n"}});
  launched.kernels[1].launches = launched.kernels[2].launches = 2;
  EXPECT_EQ(matched(a, launched).at(2), "+y1");
  launched.kernels[1].launches = launched.kernels[2].launches = 1;
  EXPECT_EQ(matched(a, launched).at(2), "x1>y1");
  launched.layers[2].direction = Direction::backward;
  EXPECT_EQ(matched(a, launched).at(2), "+y1");
}

TEST(CompareMatch, KernelsByShapeInTheirOrder) {
  const auto report = [](const std::vector<std::uint32_t>& grids) {
    MadeReport made;
    for (const std::uint32_t grid : grids) made.add_kernel(0, "k", 10, 0, 0).grid = {grid, 1, 1};
    return made.done();
  };
  const auto pairs = [](const Report& a, const Report& b) {
    std::string out;
    for (const auto& [before, after, match] : match_kernels(a, b, match_layers(a, b))) {
      out += (out.empty() ? "" : " ") +
             (before == nullptr ? "-" : std::to_string(before - a.kernels.data())) + ">" +
             (after == nullptr ? "-" : std::to_string(after - b.kernels.data())) + " " +
             match_name(match);
    }
    return out;
  };
  EXPECT_EQ(pairs(report({1, 2, 1}), report({2, 1, 1})), "1>0 same 0>1 same 2>2 same");
  EXPECT_EQ(pairs(report({1, 2}), report({1, 3})), "0>0 same 1>1 reshaped");
  EXPECT_EQ(pairs(report({1, 2, 4}), report({1, 3})), "0>0 same ->1 new 1>- gone 2>- gone");
  EXPECT_EQ(pairs(report({1, 2}), report({1, 3, 5})), "0>0 same ->1 new ->2 new 1>- gone");
  EXPECT_EQ(pairs(report({4, 2, 3}), report({})), "0>- gone 1>- gone 2>- gone");
  Report graph = report({1});
  graph.kernels[0].graph = 1;
  EXPECT_EQ(pairs(report({1}), graph), "0>0 reshaped");
  Report device = report({1});
  device.kernels[0].device = 1;
  EXPECT_EQ(pairs(report({1}), device), "->0 new 0>- gone");
}

TEST(CompareNoise, StandardErrors) {
  KernelRow row;
  row.launches = 3;
  row.time_stddev_ns = 8;
  row.samples_time = 4;
  EXPECT_EQ(standard_error_ns(row), 12.0);
  row.samples_time = 2;
  EXPECT_DOUBLE_EQ(*standard_error_ns(row), 24 / std::sqrt(2.0));
  row.samples_time = 1;
  EXPECT_FALSE(standard_error_ns(row));
  row.samples_time = 4;
  row.time_stddev_ns.reset();
  EXPECT_FALSE(standard_error_ns(row));
  EXPECT_EQ(noise_of(3, 4), 10.0);
  EXPECT_FALSE(noise_of(3, std::nullopt));
  EXPECT_FALSE(noise_of(std::nullopt, 3));
}

TEST(CompareNoise, OfLayersAreSums) {
  MadeReport made;
  made.add_layer({"a"});
  made.add_layer({"a", "b"});
  made.add_layer({"c"});
  for (const std::int64_t layer : {1, 2, 2}) {
    KernelRow& row = made.add_kernel(layer, "k", 10, 0, 0);
    row.time_stddev_ns = 2;
    row.samples_time = 4;
  }
  made.add_kernel(1, "graph", 10, 0, 0).graph = 1;  // its time is that of others
  made.report.layers[1].parent = 0;
  const LayerErrors errors(made.report);
  EXPECT_EQ(errors.own(1), 1.0);
  EXPECT_EQ(errors.own(2), 2.0);
  EXPECT_EQ(errors.all(1), 3.0);
  EXPECT_EQ(errors.all(0), 3.0);
  EXPECT_FALSE(errors.own(0));
  EXPECT_FALSE(errors.all(3));
  made.add_kernel(2, "once", 10, 0, 0);
  const LayerErrors unknown(made.report);
  EXPECT_FALSE(unknown.own(2));
  EXPECT_FALSE(unknown.all(0));
  EXPECT_EQ(unknown.own(1), 1.0);
  made.report.layers[0].parent = 1;  // a cycle ends
  EXPECT_EQ(LayerErrors(made.report).own(1), 1.0);
}

TEST(CompareWork, OfTheRootsAndFormulas) {
  Report report;
  report.layers.resize(3);
  report.layers[1].parent = 0;
  report.layers[0].flops.total = 10;
  report.layers[0].launches = 3;
  report.layers[1].flops.total = 5;
  report.layers[1].launches = 2;
  report.layers[1].model.emplace().self.flops = 7;
  report.layers[2].flops.total = 100;
  report.layers[2].launches = 30;
  report.layers[2].model.emplace().self.flops = 8;
  EXPECT_EQ(work_done(report).flops, 110.0);
  EXPECT_EQ(work_done(report).analytic, 15.0);
  EXPECT_EQ(work_done(report).launches, 33.0);
  report.layers[2].coverage.flops = 0.5;  // a part is not known
  report.layers[2].launches.reset();
  report.layers[1].model->self.flops.reset();
  EXPECT_FALSE(work_done(report).flops);
  EXPECT_EQ(work_done(report).analytic, 8.0);
  EXPECT_EQ(work_done(report).launches, 3.0);
}

TEST(CompareWork, TwoInAHundredAreTheSame) {
  const auto differ = [](const Maybe& a, const Maybe& b) {
    WorkDone before, after;
    before.launches = a;
    after.launches = b;
    return other_work(before, after, "A", "B", Unit::step);
  };
  EXPECT_EQ(differ(100, 98), "");
  EXPECT_EQ(differ(98, 100), "");
  EXPECT_EQ(differ(100, 97.9), "A does 100 launches per step, B 97.9 launches (-2.10 %)");
  EXPECT_EQ(differ(0, 5), "A does 0 launches per step, B 5 launches");
  EXPECT_EQ(differ(0, 0), "");
  EXPECT_EQ(differ(std::nullopt, 5), "");
  EXPECT_EQ(differ(5, std::nullopt), "");
  EXPECT_EQ(differ(0.5, 1), "A does 0.5 launches per step, B 1 launches (+100 %)");
  EXPECT_NE(differ(5, 0), "");
  WorkDone a, b;
  a.analytic = b.analytic = 0;
  a.flops = 1e9;
  b.flops = 2e9;
  EXPECT_EQ(other_work(a, b, "A", "B", Unit::run),
            "A does 1.00 GFLOP per run, B 2.00 GFLOP (+100 %)");
  a.analytic = b.analytic = 0.5;  // the operators are the same
  EXPECT_EQ(other_work(a, b, "A", "B", Unit::run), "");
  b.analytic = 1;
  EXPECT_NE(other_work(a, b, "A", "B", Unit::run), "");
  a.flops.reset();
  EXPECT_TRUE(other_work(a, b, "A", "B", Unit::run)
                  .starts_with("A does 0.500 FLOP per run, B 1.00 "
                               "FLOP"));
}

TEST(SameDevice, TheOneGpuOfEachIsTheSame) {
  const auto on = [](std::int32_t device) {
    MadeReport made;
    made.report.devices.push_back(made.report.devices[0]);
    made.report.devices[1].id = 2;
    made.report.layers[0].device = device;
    made.add_kernel(0, "k", 10, 0, 0).device = device;
    made.report.copies.resize(1);
    made.report.copies[0].device = device;
    made.report.sm_clock_measured_hz[0] = 1;
    made.report.sm_clock_measured_hz[2] = 3;
    made.report.sm_clock_measured_hz[5] = 4;
    return made.report;
  };
  std::vector<Report> reports = {on(0), on(2), on(0)};
  take_same_device(reports);
  const Report& moved = reports[1];
  EXPECT_EQ(moved.kernels[0].device, 0);
  EXPECT_EQ(moved.layers[0].device, 0);
  EXPECT_EQ(moved.copies[0].device, 0);
  EXPECT_EQ(moved.devices[0].id, 2);
  EXPECT_EQ(moved.devices[1].id, 0);
  EXPECT_EQ(moved.ceilings[0].device, 2);
  EXPECT_EQ(moved.sm_clock_measured_hz.at(0), 3.0);
  EXPECT_EQ(moved.sm_clock_measured_hz.at(2), 1.0);
  EXPECT_EQ(moved.sm_clock_measured_hz.at(5), 4.0);
  EXPECT_EQ(reports[0].kernels[0].device, 0);
  EXPECT_EQ(reports[2].devices[0].id, 0);
  // Where one uses two, it is not known which is which.
  reports = {on(0), on(2)};
  reports[0].kernels.push_back(reports[0].kernels[0]);
  reports[0].kernels[1].device = 2;
  take_same_device(reports);
  EXPECT_EQ(reports[1].kernels[0].device, 2);
}

}  // namespace
}  // namespace gable::tests

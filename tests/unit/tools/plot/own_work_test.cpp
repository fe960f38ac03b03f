// SPDX-License-Identifier: Apache-2.0
// What layers do themselves, and how rows of kernels are named.
#include "tools/plot/own_work.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/whole_kernel.h"

namespace gable::tests {
namespace {

using Names = std::vector<std::string>;

Names kernels_of(const MadeReport& made) {
  MadeReport copy = made;
  Names names;
  for (const OwnWork& row : own_work(copy.done(), true)) names.push_back(row.kernel);
  return names;
}

// How a launch is written behind the name, beside one of <<<1, 1>>>.
std::string launch_of(const Dim3& grid, const Dim3& block, std::uint32_t shared = 0,
                      const Dim3& cluster = {}) {
  MadeReport made;
  made.add_kernel(0, "k", 10, 0, 0).grid = {7, 7, 7};
  KernelRow& kernel = made.add_kernel(0, "k", 10, 0, 0);
  kernel.grid = grid;
  kernel.block = block;
  kernel.dynamic_shared = shared;
  kernel.cluster = cluster;
  for (const std::string& name : kernels_of(made))
    if (name.find("7x7x7") == std::string::npos) return name;
  return "none";
}

TEST(OwnWork, LaunchesOfOneKernelAreNamedAsCudaWritesThem) {
  EXPECT_EQ(launch_of({1, 1, 1}, {1, 1, 1}), "k <<<1, 1>>>");
  EXPECT_EQ(launch_of({16, 2, 1}, {128, 1, 1}), "k <<<16x2, 128>>>");
  EXPECT_EQ(launch_of({16, 1, 2}, {8, 2, 4}), "k <<<16x1x2, 8x2x4>>>");
  EXPECT_EQ(launch_of({16, 3, 3}, {1, 1, 3}), "k <<<16x3x3, 1x1x3>>>");
  EXPECT_EQ(launch_of({0, 1, 1}, {128, 1, 1}), "k <<<?, 128>>>");
  EXPECT_EQ(launch_of({4, 1, 1}, {8, 1, 1}, 1), "k <<<4, 8, 1>>>");
  EXPECT_EQ(launch_of({4, 1, 1}, {8, 1, 1}, 0, {2, 1, 1}), "k <<<4, 8>>> cluster 2");
}

TEST(OwnWork, OnlyKernelsOfSeveralSizesHaveThemInTheirNames) {
  MadeReport made;
  made.add_kernel(0, "one", 10, 0, 0);
  made.add_kernel(0, "two", 10, 0, 0);
  made.add_kernel(0, "two", 10, 0, 0).grid = {2, 1, 1};
  made.add_kernel(made.add_layer({"net"}), "one", 10, 0, 0);
  KernelRow& graph = made.add_kernel(0, "one", 10, 0, 0);
  graph.graph = 1;
  graph.grid = {9, 1, 1};
  EXPECT_EQ(kernels_of(made), (Names{"one", "two <<<1, 1>>>", "two <<<2, 1>>>", "one"}));
}

// Of a graph by itself, and of what a layer's launches counted together.
MadeReport counted_again(TimeSource source) {
  MadeReport made;
  made.add_kernel(0, "k", 10, 1000, 100);
  KernelRow& graph = made.add_kernel(0, "(graph)", 20, 0, 0);
  graph.graph = 1;
  graph.time_source = source;
  KernelRow& range = made.add_kernel(0, "(range)", 30, 5000, 200);
  range.ranges = 1;
  range.time_source = source;
  return made;
}

TEST(OwnWork, AGraphHasARowOfItsOwn) {
  const auto rows = own_work(counted_again(TimeSource::time).done());
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].kernel, "");
  EXPECT_FALSE(rows[0].counts_again);
  EXPECT_EQ(rows[0].sum.time_total_ns, 10.0);
  EXPECT_EQ(rows[0].sum.flops.total, 6000.0);  // with what was counted together
  EXPECT_EQ(rows[1].kernel, "(graph)");
  EXPECT_TRUE(rows[1].counts_again);
  EXPECT_EQ(rows[1].sum.time_total_ns, 20.0);
  EXPECT_EQ(rows[1].sum.launches, 1.0);
  const auto counted = own_work(counted_again(TimeSource::hw).done());
  EXPECT_FALSE(counted.at(1).counts_again);  // nothing else has its time
}

TEST(OwnWork, ByKernelEachHasItsRow) {
  const auto rows = own_work(counted_again(TimeSource::time).done(), true);
  ASSERT_EQ(rows.size(), 3u);
  const bool again[] = {true, true, false};
  const double times[] = {20, 30, 10}, flops[] = {0, 5000, 1000};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows[i].counts_again, again[i]) << rows[i].kernel;
    EXPECT_EQ(rows[i].sum.time_total_ns, times[i]) << rows[i].kernel;
    EXPECT_EQ(rows[i].sum.flops.total, flops[i]) << rows[i].kernel;
  }
}

TEST(OwnWork, RowsByDeviceAndLayer) {
  MadeReport made;
  const auto net = made.add_layer({"net"});
  made.add_kernel(net, "b", 10, 0, 0).device = 1;
  made.add_kernel(net, "a", 20, 0, 0);
  made.add_kernel(net, "b", 40, 0, 0);
  Report report = made.done();
  made.add_kernel(0, "c", 5, 0, 0);
  report.kernels.push_back(made.report.kernels.back());
  report.kernels.back().layer = 77;
  const auto rows = own_work(report);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].layer, &report.layers[1]);
  EXPECT_EQ(rows[0].sum.device, 0);
  EXPECT_EQ(rows[0].sum.time_total_ns, 60.0);
  EXPECT_EQ(rows[1].layer, nullptr);
  EXPECT_EQ(rows[1].sum.time_total_ns, 5.0);
  EXPECT_EQ(rows[2].layer, &report.layers[1]);
  EXPECT_EQ(rows[2].sum.device, 1);
}

TEST(OwnWork, OneKernelOnTensorCoresIsEnough) {
  for (const bool first : {true, false}) {
    MadeReport made;
    made.add_kernel(0, "a", 10, 0, 0).flags = {first ? "tensor_inferred" : "tail"};
    EXPECT_EQ(own_work(made.done()).at(0).tensor_inferred, first);
    made.add_kernel(0, "b", 10, 0, 0).flags = {first ? "tail" : "tensor_inferred"};
    EXPECT_TRUE(own_work(made.done()).at(0).tensor_inferred);
  }
}

TEST(OwnWork, WhatAStepWouldSave) {
  MadeReport made;
  const auto net = made.add_layer({"net"});
  for (const char* name : {"a", "b"}) {
    KernelRow& kernel = made.add_kernel(net, name, 10, 5000, 100);  // half of its roof
    kernel.path_ns = 8;
    kernel.step_saving = StepSaving{1, 3};
  }
  made.add_kernel(net, "c", 10, 5000, 100);
  KernelRow& graph = made.add_kernel(net, "(graph)", 20, 0, 0);
  graph.graph = 1;
  graph.path_ns = 100;
  made.report.layers[1].step_saving_self = StepSaving{4, 5};
  Report report = made.done();
  const auto layers = own_work(report);
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[0].sum.path_ns, 16.0);
  EXPECT_EQ(layers[0].sum.step_saving->low_ns, 4);
  EXPECT_EQ(layers[0].sum.step_saving->high_ns, 5);
  EXPECT_FALSE(layers[1].sum.path_ns);
  EXPECT_FALSE(layers[1].sum.step_saving);
  const auto kernels = own_work(report, true);
  ASSERT_EQ(kernels.size(), 4u);
  EXPECT_EQ(kernels[1].kernel, "a");
  EXPECT_EQ(kernels[1].sum.path_ns, 8.0);
  EXPECT_EQ(kernels[1].sum.step_saving->high_ns, 3);
  report.kernels[0].layer = 77;
  EXPECT_EQ(own_work(report).back().sum.step_saving->high_ns, 3);  // without a layer: its kernels'
}

KernelRow on_path(double low, double high, double path, double fraction) {
  KernelRow row;
  row.step_saving = StepSaving{low, high};
  row.path_ns = path;
  row.roof.fraction = fraction;
  return row;
}

TEST(SavingTogether, AtLeastTheBestAloneAndAtMostThePath) {
  const KernelRow a = on_path(3, 50, 40, 0.25), b = on_path(2, 50, 10, 0.5);
  const KernelRow above = on_path(0, 50, 10, 1.5), wide = on_path(90, 95, 10, 0.5);
  const auto bounds = [](const std::vector<const KernelRow*>& kernels) {
    const auto saving = saving_together(kernels);
    return saving ? std::pair(saving->low_ns, saving->high_ns) : std::pair(-1.0, -1.0);
  };
  EXPECT_EQ(bounds({}), std::pair(-1.0, -1.0));
  EXPECT_EQ(bounds({&a}), std::pair(3.0, 50.0));
  EXPECT_EQ(bounds({&a, &b}), std::pair(3.0, 35.0));  // 30 + 5
  EXPECT_EQ(bounds({&b, &a}), std::pair(3.0, 35.0));
  EXPECT_EQ(bounds({&b, &above}), std::pair(2.0, 5.0));
  EXPECT_EQ(bounds({&a, &wide}), std::pair(90.0, 90.0));
  KernelRow unknown = a;
  unknown.step_saving.reset();
  EXPECT_EQ(bounds({&b, &unknown}).first, -1);
  unknown = a;
  unknown.path_ns.reset();
  EXPECT_EQ(bounds({&b, &unknown}).first, -1);
  unknown = a;
  unknown.roof.fraction.reset();
  EXPECT_EQ(bounds({&unknown, &b}).first, -1);
}

TEST(OwnHostParts, WithoutLayersBelow) {
  MadeReport made;
  made.add_layer({"a"});
  made.add_layer({"a", "b"});
  made.add_layer({"a", "c"});
  made.add_layer({"d"});
  made.report.layers[1].host_path_ns = 100;
  made.report.layers[2].host_path_ns = 70;
  made.report.layers[3].host_path_ns = 10;
  const auto parts = [&](double least) {
    std::vector<std::pair<std::string, double>> found;
    for (const HostPart& part : own_host_parts(made.report, least))
      found.emplace_back(part.layer->path.empty() ? "" : part.layer->path.back(), part.ns);
    return found;
  };
  using Parts = std::vector<std::pair<std::string, double>>;
  EXPECT_EQ(parts(10), (Parts{{"b", 70}, {"a", 20}, {"c", 10}}));
  EXPECT_EQ(parts(0), (Parts{{"b", 70}, {"a", 20}, {"c", 10}}));
  EXPECT_EQ(parts(11), (Parts{{"b", 70}, {"a", 20}}));
  made.report.layers[2].host_path_ns = made.report.layers[3].host_path_ns = 30;
  EXPECT_EQ(parts(30), (Parts{{"a", 40}, {"b", 30}, {"c", 30}}));
}

// A layer of a second GPU, of which nothing was counted.
struct Analytic {
  Report report;
  LayerRow* layer = nullptr;
  Analytic() {
    MadeReport made;
    const auto id = made.add_layer({"net"});
    KernelRow& kernel = made.add_kernel(id, "k", 100, 0, 0);
    kernel.flops = {};
    kernel.bytes = {};
    kernel.device = 1;
    kernel.flags = {"tensor_inferred"};
    made.report.layers[1].device = 1;
    made.report.ceilings.push_back({1, CeilingKind::compute, "fp32", 1e12, "measured"});
    made.report.ceilings.push_back({1, CeilingKind::memory, "dram", 1e11, "measured"});
    report = made.done();
    layer = &report.layers[1];
    LayerModel& model = layer->model.emplace();
    model.self.flops = 25000;
    model.self.bytes = 2000;
    model.self.types["fp32"] = 25000;
    model.flops_per_s = model.bytes_per_s = 1;
  }
  [[nodiscard]] OwnWork row() const { return own_work(report).at(0); }
};

TEST(OwnWork, WhatOperatorsHaveToDoStandsIn) {
  const OwnWork row = Analytic().row();
  EXPECT_TRUE(row.analytic);
  EXPECT_FALSE(row.tensor_inferred);
  EXPECT_EQ(row.sum.intensity.dram, 12.5);
  EXPECT_EQ(row.sum.flops_per_s, 2.5e11);
  EXPECT_EQ(row.sum.bytes_per_s, 2e10);
  EXPECT_EQ(row.sum.roof.fraction, 0.25);
  EXPECT_EQ(row.sum.roof.source, "measured");
  EXPECT_EQ(row.sum.saving_ns, 75.0);
}

TEST(OwnWork, ItNeedsATimeOfTheSameSteps) {
  const auto analytic = [](auto change) {
    Analytic made;
    change(made);
    const OwnWork row = made.row();
    EXPECT_EQ(row.tensor_inferred, !row.analytic);
    return row.analytic;
  };
  EXPECT_TRUE(analytic([](Analytic& a) { a.layer->model->bytes_per_s.reset(); }));
  EXPECT_TRUE(analytic([](Analytic& a) { a.layer->model->flops_per_s.reset(); }));
  EXPECT_TRUE(analytic([](Analytic& a) { a.layer->model->self.flops = 1; }));
  EXPECT_TRUE(analytic([](Analytic& a) {
    a.layer->model->self.bytes.reset();  // not of every operator
    a.layer->model->bytes_per_s.reset();
  }));
  EXPECT_TRUE(analytic([](Analytic& a) { a.layer->model->self.flops.reset(); }));
  EXPECT_FALSE(analytic([](Analytic& a) {
    a.layer->model->flops_per_s.reset();
    a.layer->model->bytes_per_s.reset();
  }));
  EXPECT_FALSE(analytic([](Analytic& a) {
    a.layer->model->flops_per_s.reset();
    a.layer->model->self.bytes.reset();
  }));
  EXPECT_FALSE(analytic([](Analytic& a) {
    a.layer->model->self.flops = 0;
    a.layer->model->bytes_per_s.reset();
  }));
  EXPECT_FALSE(analytic([](Analytic& a) { a.layer->time_self_ns.reset(); }));
  EXPECT_FALSE(analytic([](Analytic& a) { a.layer->model.reset(); }));
  EXPECT_FALSE(analytic([](Analytic& a) { a.report.kernels[0].bytes.dram = 1; }));
  EXPECT_FALSE(analytic([](Analytic& a) { a.report.kernels[0].flops.total = 1; }));
}

}  // namespace
}  // namespace gable::tests

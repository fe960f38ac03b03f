// SPDX-License-Identifier: Apache-2.0
#include "tools/import/report/assemble.h"

#include <gtest/gtest.h>
#include <stdexcept>

#include "tests/unit/tools/import/report/files.h"
#include "tools/base/wrong_use.h"

namespace gable {
namespace {

// Two steps with two kernels each, a kernel and a copy before them.
struct Steps : Files {
  Steps() {
    outer = imported.layers.child(0, "net");
    inner = imported.layers.child(outer, "fc");
    imported.steps = {{1000, 2000}, {2000, 3400}};
    imported.metrics = {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "dram__bytes.sum"};
    imported.times_from = {"nsys (a.sqlite)"};
    add("a", 100, 200, 0, 0);
    add("a", 1100, 1200, 1, outer);
    add("b", 1300, 1500, 1, inner);
    add("a", 2100, 2400, 2, outer);
    add("b", 2500, 2600, 2, inner);
    copy(50, 60, 0, 0, 7);
    copy(1600, 1620, 1, outer, 1000);
    copy(2700, 2760, 2, outer, 3000);
    imported.spans.add({0, outer, 1, 5000, 0});
    imported.spans.add({1, outer, 1, 700, 40});
    imported.spans.add({2, outer, 3, 900, 60});
    imported.projections[{0, outer}] = {2, 1400, 4};
    imported.projections[{0, inner}] = {2, 300, 2};
  }
  void add(const char* name, std::uint64_t start, std::uint64_t end, std::uint32_t step,
           LayerId layer) {
    ImportedKernel each = kernel(name, start, end, shape(4));
    each.step = step;
    each.layer = layer;
    imported.kernels.add(each);
  }
  void copy(std::uint64_t start, std::uint64_t end, std::uint32_t step, LayerId layer,
            std::uint64_t bytes) {
    ImportedCopy copy;
    copy.record.start_ns = start;
    copy.record.end_ns = end;
    copy.record.bytes = bytes;
    copy.record.kind = CopyKind::host_to_device;
    copy.step = step;
    copy.layer = layer;
    copy.place = imported.copies.size();
    imported.copies.add(copy);
  }
  LayerId outer = 0, inner = 0;
};

Report report_of(Files& files) { return assemble(files.imported, {}); }

long notes(const Report& report, const std::vector<std::string>& pieces) {
  return Files::notes_with(report.run.notes, pieces);
}

const KernelRow& kernel_of(const Report& report, const std::string& name) {
  for (const KernelRow& row : report.kernels)
    if (row.name == name) return row;
  throw std::runtime_error("no kernel " + name);
}

TEST(Assemble, EachStepIsAWindow) {
  Steps files;
  files.imported.has_calls = true;
  const Report report = report_of(files);
  EXPECT_EQ(report.run.source, Source::imported);
  EXPECT_EQ(report.run.unit, Unit::step);
  EXPECT_TRUE(report.run.complete);
  EXPECT_EQ(report.run.steps.border, "range");
  EXPECT_EQ(report.run.steps.seen, 2u);
  EXPECT_EQ(report.run.steps.time, 2u);
  EXPECT_EQ(report.run.steps.hw, 0u);
  EXPECT_EQ(report.run.steps.classes, 1u);
  EXPECT_EQ(report.run.total.gpu_time_ns, 100 + 200 + 300 + 100);
  EXPECT_EQ(report.run.total.basis, Basis::measured);
  EXPECT_NE(report.run.total.basis_note.find("timed"), std::string::npos);
  EXPECT_TRUE(report.run.overhead.window_wall_ns.empty()) << "nothing was added to the program";
  EXPECT_EQ(report.step.wall_mean_ns, 1000) << "from the first kernel to the next step's";
  EXPECT_EQ(report.step.host_mean_ns, (1000 + 1400) / 2);
  EXPECT_EQ(report.step.busy_ns, 350);
  EXPECT_EQ(report.step.copy_ns, (20 + 60) / 2);
  EXPECT_EQ(report.step.sync_ns, (40 + 60) / 2);
  ASSERT_EQ(report.layers.size(), 3u);
  const LayerRow &root = report.layers[0], &outer = report.layers[1], &inner = report.layers[2];
  EXPECT_EQ(outer.path, (std::vector<std::string>{"net"}));
  EXPECT_EQ(outer.calls, 2) << "one and three";
  EXPECT_EQ(outer.cpu_ns, (700 + 900) / 2);
  EXPECT_EQ(outer.sync_ns, 50);
  EXPECT_EQ(outer.time_self_ns, 200);
  EXPECT_EQ(outer.time_total_ns, 350);
  EXPECT_EQ(outer.span_ns, 1400 / 2);
  EXPECT_EQ(inner.span_ns, 300 / 2);
  EXPECT_NE(root.span_ns, 0);
  EXPECT_EQ(inner.time_total_ns, 150);
  ASSERT_EQ(report.kernels.size(), 2u);
  const KernelRow& a = kernel_of(report, "a");
  EXPECT_EQ(a.layer, outer.id);
  EXPECT_EQ(a.launches, 1);
  EXPECT_EQ(a.time_min_ns, 100);
  EXPECT_EQ(a.time_max_ns, 300);
  EXPECT_EQ(a.samples_time, 2u);
  EXPECT_TRUE(a.flags.empty()) << "nothing is there to be compared between windows";
  EXPECT_EQ(a.grid, (Dim3{4, 1, 1}));
  EXPECT_TRUE(a.counters.empty());
  ASSERT_EQ(report.copies.size(), 1u);
  EXPECT_EQ(report.copies[0].layer, outer.id);
  EXPECT_EQ(report.copies[0].count, 1);
  EXPECT_EQ(report.copies[0].bytes, 2000);
  EXPECT_EQ(report.copies[0].time_ns, 40);
}

TEST(Assemble, WhatRanOutsideOfStepsIsLeftOutAndSaid) {
  Steps files;
  files.add("a", 300, 400, 0, 0);
  const Report report = report_of(files);
  EXPECT_EQ(notes(report, {"2 of 6 kernels ran outside"}), 1);
  EXPECT_EQ(notes(report, {"1 of 3 copies", "outside"}), 1);
  EXPECT_EQ(notes(report, {"times from nsys (a.sqlite); no counters."}), 1);
  EXPECT_EQ(notes(report, {"The last "}), 0);
  EXPECT_EQ(report.run.total.gpu_time_ns, 700);
}

TEST(Assemble, WhereAllRanInStepsNothingIsSaid) {
  Files files;
  files.imported.steps = {{50, 200}};
  ImportedKernel kernel = files.kernel("k", 100, 130, Files::shape(4));
  kernel.step = 1;
  files.imported.kernels.add(kernel);
  const Report report = report_of(files);
  EXPECT_EQ(notes(report, {"outside"}), 0);
  EXPECT_EQ(report.run.total.gpu_time_ns, 30);
}

TEST(Assemble, StepsAtTheEndWithoutAKernelAreNone) {
  for (const std::size_t more : {1, 2}) {
    Steps files;
    for (std::size_t i = 0; i < more; ++i) files.imported.steps.push_back({3400, 3500});
    files.imported.has_calls = true;
    const Report report = report_of(files);
    EXPECT_EQ(report.run.steps.time, 2u);
    EXPECT_EQ(report.layers.at(1).span_ns, 1400 / 2);
    EXPECT_EQ(notes(report, {more == 1 ? "The last step has" : "The last 2 steps have"}), 1);
  }
}

TEST(Assemble, WithoutAKernelInAStepThereIsNoReport) {
  Files files;
  files.timed("a");
  files.imported.steps = {{50, 100}};
  EXPECT_THROW((void)report_of(files), WrongUse);
  Files empty;
  EXPECT_THROW((void)report_of(empty), WrongUse);
}

TEST(Assemble, WithoutCallsNobodyKnowsWaits) {
  Steps files;
  const Report report = report_of(files);
  EXPECT_FALSE(report.step.sync_ns);
  EXPECT_FALSE(report.layers.at(1).sync_ns);
}

TEST(Assemble, CountersOfKernelsOutsideOfStepsAreTheirs) {
  Steps files;
  double value = 0;
  for (const char* name : {"a", "a", "b", "a", "b"}) {
    ++value;
    files.counted(name, Files::shape(4), {{0, 100 * value}, {1, 10 * value}});
  }
  files.imported.counters_from = {"ncu (c.csv)", "ncu (d.csv)"};
  const Report report = report_of(files);
  EXPECT_EQ(kernel_of(report, "a").counters.at("dram__bytes.sum"), (20 + 40) / 2);
  EXPECT_EQ(kernel_of(report, "b").counters.at("dram__bytes.sum"), (30 + 50) / 2);
  EXPECT_EQ(kernel_of(report, "b").bytes.dram, 40);
  EXPECT_EQ(kernel_of(report, "a").samples_hw, 2u);
  EXPECT_EQ(kernel_of(report, "a").samples_time, 2u);
  EXPECT_TRUE(kernel_of(report, "a").flags.empty());
  EXPECT_EQ(report.run.steps.hw, 2u);
  EXPECT_EQ(notes(report, {"from nsys (a.sqlite); counters from ncu (c.csv), ncu (d.csv)."}), 1);
  EXPECT_EQ(notes(report, {"FLOPs of all 2 kernels:"}), 1);
}

TEST(Assemble, StepsOfOtherKernelsOrGridsAreOfOtherClasses) {
  for (const bool grid : {true, false}) {
    Files files;
    files.imported.steps = {{50, 300}, {300, 600}};
    for (std::uint32_t step = 1; step <= 2; ++step) {
      ImportedKernel kernel = files.kernel(!grid && step == 2 ? "b" : "a", step * 300 - 200,
                                           step * 300 - 100, Files::shape(grid ? 3 + step : 4));
      kernel.step = step;
      files.imported.kernels.add(kernel);
    }
    EXPECT_EQ(report_of(files).run.steps.classes, 2u);
  }
}

TEST(Assemble, WithoutStepsAllIsOneRun) {
  Files files;
  files.imported.has_calls = true;
  const LayerId layer = files.imported.layers.child(0, "net");
  for (const char* name : {"a", "b", "a"}) {
    ImportedKernel kernel = files.kernel(name, 100, 110, Files::shape(4));
    kernel.layer = layer;
    files.imported.kernels.add(kernel);
  }
  files.imported.spans.add({0, layer, 4, 80, 8});
  ImportedCopy copy;
  copy.record.start_ns = 1000;
  copy.record.end_ns = 1005;
  copy.record.bytes = 77;
  files.imported.copies.add(copy);
  files.imported.projections[{0, layer}] = {2, 1400, 4};
  const Report report = report_of(files);
  EXPECT_EQ(report.run.unit, Unit::run);
  EXPECT_EQ(report.run.steps.border, "");
  EXPECT_EQ(report.run.steps.seen, 0u);
  EXPECT_EQ(report.run.total.gpu_time_ns, 30);
  EXPECT_FALSE(report.step.wall_mean_ns);
  EXPECT_FALSE(report.step.busy_ns);
  EXPECT_EQ(kernel_of(report, "a").launches, 2);
  EXPECT_EQ(kernel_of(report, "a").time_total_ns, 20);
  EXPECT_EQ(report.layers.at(1).calls, 4);
  EXPECT_EQ(report.layers.at(1).cpu_ns, 80);
  EXPECT_EQ(report.layers.at(1).span_ns, 1400);
  ASSERT_EQ(report.copies.size(), 1u);
  EXPECT_EQ(report.copies[0].bytes, 77);
  EXPECT_EQ(notes(report, {"outside"}), 0);
}

TEST(Assemble, CollectivesHaveTheirMessages) {
  Files files;
  ImportedKernel kernel = files.kernel("ncclDevKernel_AllReduce", 10, 20, Files::shape(4));
  for (const bool told : {false, true, true}) {
    ImportedMessage& message = files.imported.messages.emplace_back();
    message.kind = Collective::all_reduce;
    message.ranks = 2;
    message.bytes = told ? 4096 : 100;
    message.told = told;
  }
  for (const std::uint32_t message : {2, 3}) {
    kernel.message = message;
    files.imported.kernels.add(kernel);
  }
  kernel = files.kernel("other", 30, 40, Files::shape(4));
  kernel.message = 1;
  files.imported.kernels.add(kernel);
  const Report report = report_of(files);
  const auto& told = kernel_of(report, "ncclDevKernel_AllReduce").collective;
  ASSERT_TRUE(told);
  EXPECT_EQ(told->kind, Collective::all_reduce);
  EXPECT_EQ(told->ranks, 2);
  EXPECT_EQ(told->bytes, 4096);
  const auto& untold = kernel_of(report, "other").collective;
  EXPECT_FALSE(untold && untold->bytes) << "the file does not tell it";
}

TEST(Assemble, WhatModelsDescribeIsOfTheirSteps) {
  Files files;
  const LayerId layer = files.imported.layers.child(0, "net", Direction::forward);
  for (std::uint32_t step = 1; step <= 3; ++step) {
    files.imported.steps.push_back({step * 1000, step * 1000 + 1000});
    ImportedKernel kernel =
        files.kernel(step == 1 ? "a" : "b", step * 1000 + 10, step * 1000 + 20, Files::shape(4));
    kernel.step = step;
    kernel.layer = layer;
    files.imported.kernels.add(kernel);
  }
  for (const std::uint32_t step : {1, 2}) {
    ModelDescription model;
    OperatorWork& work = model.work[{0, layer}];
    work.operators = step == 1 ? 3 : 9;
    files.imported.models.emplace_back(step, model);
  }
  const Report report = report_of(files);
  ASSERT_TRUE(report.layers.at(1).model);
  EXPECT_DOUBLE_EQ(report.layers[1].model->operators, 7) << "one step has 3, two have 9";
}

TEST(Assemble, WhatBlocksTakeIsOfTheKernel) {
  Files files;
  files.timed("a");
  files.imported.resources.tell(files.imported.functions.intern("a"),
                                files.imported.shapes.intern(Files::shape(4)), {32, 1024});
  const Report report = report_of(files);
  EXPECT_EQ(report.kernels.at(0).registers, 32);
  EXPECT_EQ(report.kernels.at(0).shared_bytes, 1024);
}

}  // namespace
}  // namespace gable

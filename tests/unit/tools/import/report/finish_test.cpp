// SPDX-License-Identifier: Apache-2.0
// What a report says of where its numbers come from, and reports of counters alone.
#include "tools/import/report/finish.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/unit/tools/import/report/files.h"
#include "tools/import/report/assemble.h"

namespace gable {
namespace {

Report finished(Files& files) { return assemble(files.imported, {}); }

long notes_of(const Report& report, const std::vector<std::string>& pieces) {
  return Files::notes_with(report.run.notes, pieces);
}

// All that tells FLOPs, and the bytes.
const std::vector<std::string> kAll = [] {
  std::vector<std::string> all = {"dram__bytes.sum", "gpu__time_duration.sum",
                                  "sm__ops_path_tensor_src_fp16.sum"};
  for (const char type : {'d', 'f', 'h'})
    for (const char* op : {"add", "mul", "fma"})
      all.push_back(std::string("smsp__sass_thread_inst_executed_op_") + type + op +
                    "_pred_on.sum");
  return all;
}();

Files::Values values(double bytes, double ns, double each) {
  Files::Values all = {{0, bytes}, {1, ns}, {2, 0}};
  for (std::uint32_t i = 3; i < kAll.size(); ++i) all.emplace_back(i, each);
  return all;
}

TEST(Finish, CountersAloneHaveTheTimesOfTheirOwnRuns) {
  Files files;
  files.imported.metrics = kAll;
  files.imported.counters_from = {"ncu (c.csv)"};
  files.imported.rank = 3;
  files.counted("a", Files::shape(4), values(100, 2000, 1));
  files.counted("a", Files::shape(4), values(300, 4000, 1));
  files.counted("b", Files::shape(2), values(50, 1000, 0));
  files.imported.counters[2].device = 1;
  files.imported.counters[2].layer = files.imported.layers.child(0, "net");
  files.imported.resources.tell(files.imported.counters[2].function,
                                files.imported.counters[2].shape, {16, 8});
  const Report report = finished(files);
  EXPECT_EQ(report.run.unit, Unit::run);
  EXPECT_EQ(report.run.rank, 3);
  EXPECT_EQ(report.run.total.bytes_dram, 450);
  EXPECT_EQ(report.run.total.gpu_time_ns, 7000);
  // Of each type 1 + 1 + 2, of halves twice that.
  EXPECT_EQ(report.run.total.flops, 2 * (4 + 4 + 8));
  EXPECT_NE(report.run.total.basis_note.find("counted"), std::string::npos);
  ASSERT_EQ(report.kernels.size(), 2u);
  const KernelRow& a = report.kernels[0].name == "a" ? report.kernels[0] : report.kernels[1];
  const KernelRow& b = report.kernels[0].name == "a" ? report.kernels[1] : report.kernels[0];
  EXPECT_EQ(a.launches, 2);
  EXPECT_EQ(a.bytes.dram, 200);
  EXPECT_EQ(a.time_mean_ns, 3000);
  EXPECT_EQ(a.samples_hw, 2u);
  EXPECT_TRUE(a.flags.empty());
  EXPECT_EQ(a.device, 0);
  EXPECT_EQ(b.device, 1);
  EXPECT_EQ(b.grid, (Dim3{2, 1, 1}));
  EXPECT_EQ(b.registers, 16);
  EXPECT_NE(b.layer, a.layer);
  EXPECT_EQ(notes_of(report,
                     {"times from the counters' own runs, ncu (c.csv); counters from ncu (c.csv)"}),
            1);
  EXPECT_EQ(notes_of(report, {"while they were counted"}), 1);
  EXPECT_EQ(notes_of(report, {"do not tell"}), 0);
}

TEST(Finish, WhatFollowsFromCountersIsInTheReport) {
  Files files;
  files.imported.metrics = {"dram__bytes.sum.per_second", "gpu__time_duration.sum",
                            "dram__bytes.sum.peak_sustained",
                            "dram__cycles_elapsed.avg.per_second"};
  files.imported.devices[0].id = 0;
  files.counted("a", Files::shape(4), {{0, 2e9}, {1, 100}, {2, 64}, {3, 1e9}});
  const Report report = finished(files);
  EXPECT_EQ(report.kernels.at(0).bytes.dram, 200);
  ASSERT_EQ(report.ceilings.size(), 1u);
  EXPECT_EQ(report.ceilings[0].value, 64e9);
}

TEST(Finish, WithoutDurationsThereAreNoTimes) {
  for (const double unknown : {NAN, INFINITY}) {
    Files files;
    files.imported.metrics = kAll;
    files.imported.counters_from = {"ncu (c.csv)"};
    files.counted("a", Files::shape(4), values(100, unknown, 1));
    const Report report = finished(files);
    EXPECT_EQ(notes_of(report, {"no times", "counters from ncu (c.csv)."}), 1);
    EXPECT_EQ(notes_of(report, {"while they were counted"}), 0);
  }
  Files files;  // it is none of the metrics at all
  files.imported.metrics = {"dram__bytes.sum"};
  files.counted("a", 100);
  EXPECT_EQ(notes_of(finished(files), {"no times"}), 1);
}

TEST(Finish, WhatCountersDoNotTellIsNamed) {
  struct Case {
    std::vector<std::pair<double, double>> kernels;  // bytes, of each instruction
    const char* says;                                // empty: nothing
  };
  for (const auto& [kernels, says] : {
           Case{{{1, 1}}, ""},
           Case{{{NAN, 1}}, "not tell DRAM bytes of the kernel:"},
           Case{{{1, NAN}}, "not tell FLOPs of the kernel:"},
           Case{{{NAN, 1}, {2, 1}, {3, 1}}, "not tell DRAM bytes of 1 of 3 kernels:"},
           Case{{{1, NAN}, {2, NAN}}, "not tell FLOPs of all 2 kernels:"},
           Case{{{NAN, NAN}, {NAN, 1}, {3, 1}},
                "not tell FLOPs of 1 of 3 kernels and DRAM bytes of 2 of 3 kernels:"},
       }) {
    Files files;
    files.imported.metrics = kAll;
    files.imported.counters_from = {"ncu (c.csv)"};
    std::uint32_t grid = 0;
    for (const auto& [bytes, each] : kernels)
      files.counted("a", Files::shape(++grid), values(bytes, 10, each));
    const Report report = finished(files);
    EXPECT_EQ(notes_of(report, {"The counters do not tell"}), *says == 0 ? 0 : 1) << says;
    EXPECT_EQ(notes_of(report, {says}), *says == 0 ? static_cast<long>(report.run.notes.size()) : 1)
        << says;
  }
}

TEST(Finish, OfKernelsWithoutCountersNothingIsMissed) {
  Files files;
  files.imported.metrics = kAll;
  files.imported.counters_from = {"ncu (c.csv)"};
  files.timed("a");
  files.timed("other");
  files.counted("a", Files::shape(4), values(1, 10, 1));
  EXPECT_EQ(notes_of(finished(files), {"do not tell"}), 0);
}

TEST(Finish, KernelsWithoutACallAreCounted) {
  Files files;
  for (int i = 0; i < 8; ++i) files.timed("a");
  files.imported.without_call = 1;
  const Report report = finished(files);
  EXPECT_EQ(report.run.lost.unattributed_launches, 1u);
  EXPECT_EQ(notes_of(report, {"1 of 8 kernels (12.5 %)"}), 1);
  Files all;
  all.timed("a");
  EXPECT_EQ(notes_of(finished(all), {"have no call"}), 0);
}

TEST(Finish, RoofsOfBoardsInTheCatalogueAreAdded) {
  Files files;
  files.timed("a");
  files.imported.devices[0].name = "Tesla V100-SXM2-16GB";
  files.imported.stated.push_back({0, CeilingKind::memory, "dram", 8e11, "stated"});
  const Report report = finished(files);
  ASSERT_EQ(report.devices.size(), 1u);
  std::map<std::string, double> roofs;
  for (const Ceiling& each : report.ceilings) roofs[each.name] = each.value;
  EXPECT_EQ(roofs["dram"], 8e11) << "what files state goes first";
  EXPECT_EQ(roofs["fp32"], 15.7e12);
  EXPECT_EQ(notes_of(report, {"Roofs", "missing"}), 0);
}

TEST(Finish, RoofsThatAreMissingAreSaidOfEachBoard) {
  const auto said = [](auto change, const std::vector<std::string>& pieces) {
    Files files;
    ImportedKernel kernel = files.kernel("a", 100, 110, Files::shape(4));
    for (const std::int32_t id : {0, 1, 2}) {
      kernel.device = id;
      files.imported.kernels.add(kernel);
    }
    for (const std::int32_t id : {0, 1, 2}) files.imported.devices[id].id = id;
    files.imported.devices[0].name = "NVIDIA Z2";
    files.imported.devices[1].name = "NVIDIA Z1";
    change(files.imported);
    return notes_of(finished(files), pieces);
  };
  const auto nothing = [](Imported&) {};
  EXPECT_EQ(said(nothing, {"Roofs of NVIDIA Z1, NVIDIA Z2 are"}), 1);
  EXPECT_EQ(said(nothing, {"Roofs are missing where no file tells the GPU"}), 1);
  const auto one = [](Imported& imported) {
    imported.stated.push_back({0, CeilingKind::memory, "dram", 8e11, "stated"});
    imported.stated.push_back({0, CeilingKind::compute, "fp32", 8e11, "stated"});
    imported.stated.push_back({1, CeilingKind::compute, "fp32", 8e11, "stated"});
    imported.stated.push_back({2, CeilingKind::memory, "dram", 8e11, "stated"});
  };
  EXPECT_EQ(said(one, {"Roofs of NVIDIA Z1 are"}), 1) << "it has none of memory";
  EXPECT_EQ(said(one, {"Roofs are missing where no file tells the GPU"}), 1);
  const auto both = [&](Imported& imported) {
    one(imported);
    imported.stated.push_back({2, CeilingKind::compute, "fp32", 8e11, "stated"});
  };
  EXPECT_EQ(said(both, {"Roofs are missing where no file tells the GPU"}), 0);
  const auto known = [](Imported& imported) { imported.devices[2].name = "NVIDIA Z1"; };
  EXPECT_EQ(said(known, {"Roofs of NVIDIA Z1, NVIDIA Z2 are"}), 1);
  EXPECT_EQ(said(known, {"Roofs are missing where no file tells the GPU"}), 0);
  const auto named = [](Imported& imported) { imported.gpu_is_named = true; };
  EXPECT_EQ(said(named, {"Roofs ", "missing"}), 0);
  const auto foreign = [](Imported& imported) { imported.has_foreign_gpu = true; };
  EXPECT_EQ(said(foreign, {"Roofs ", "missing"}), 0);
}

TEST(Finish, SpansAreThoseOfTheDeviceAndDirection) {
  Files files;
  ImportedKernel kernel = files.kernel("a", 100, 110, Files::shape(4));
  kernel.layer = files.imported.layers.child(0, "net");
  for (const std::int32_t id : {0, 1}) {
    kernel.device = id;
    files.imported.kernels.add(kernel);
  }
  files.imported.projections[{1, kernel.layer}] = {1, 500, 1};
  files.imported.projections[{1, 0}] = {1, 900, 1};
  const Report report = finished(files);
  for (const LayerRow& layer : report.layers) {
    if (layer.depth == 0)
      EXPECT_NE(layer.span_ns, 900);
    else if (layer.device == 1)
      EXPECT_EQ(layer.span_ns, 500);
    else
      EXPECT_NE(layer.span_ns, 500);
  }
}

}  // namespace
}  // namespace gable

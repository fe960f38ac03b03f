// SPDX-License-Identifier: Apache-2.0
// Which kernels of a process are exchanges, and what their rows get of what was found.
#include "tools/import/ranks/exchanges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tools/import/ranks/join_ranks.h"

namespace gable {
namespace {

struct Recounted {
  const char* kernel = "ncclDevKernel_AllReduce";
  Collective kind = Collective::all_reduce;
  bool told = true;
  std::uint32_t group = 1, step = 0;
  std::optional<std::uint64_t> bytes = 64;
  std::uint32_t process = 0, stream = 0;
  std::int32_t device = 0;
};

struct Process {
  Process() { imported.groups = {"tp", "dp"}; }
  void add(std::uint64_t start, std::uint64_t end, const Recounted& told) {
    ImportedMessage& message = imported.messages.emplace_back();
    message.kind = told.kind;
    message.told = told.told;
    message.group = told.group;
    message.ranks = told.told ? 2 : 0;
    message.bytes = told.bytes;
    message.process = told.process;
    message.stream = told.stream;
    message.sequence = start;
    ImportedKernel kernel;
    kernel.function = imported.functions.intern(told.kernel);
    LaunchShape shape;
    shape.grid = {grid, 1, 1};
    shape.block = {32, 1, 1};
    kernel.shape = imported.shapes.intern(shape);
    kernel.start_ns = start;
    kernel.end_ns = end;
    kernel.device = told.device;
    kernel.step = told.step;
    kernel.layer = layer;
    kernel.message = static_cast<std::uint32_t>(imported.messages.size());
    imported.kernels.add(kernel);
  }
  Imported imported;
  std::uint32_t grid = 4;
  LayerId layer = 0;
};

TEST(Exchanges, AreThoseInWhichEveryoneWaits) {
  struct Case {
    const char* kernel;
    Collective kind;
    bool told;
    std::optional<std::uint64_t> bytes;
    bool waits;
  };
  for (const auto& [kernel, kind, told, bytes, waits] :
       {Case{"k", Collective::all_reduce, true, {}, true},
        Case{"k", Collective::all_gather, false, 5, true},
        Case{"k", Collective::reduce_scatter, true, 5, true},
        Case{"k", Collective::all_to_all, true, 5, true},
        Case{"k", Collective::all_to_all, true, {}, false},
        Case{"k", Collective::all_to_all, false, 5, false},
        Case{"k", Collective::broadcast, true, 5, false},
        Case{"k", Collective::reduce, true, 5, false},
        Case{"k", Collective::send_receive, true, 5, false},
        Case{"k", Collective::unknown, true, 5, false},
        Case{"ncclDevKernel_AllReduce", Collective::unknown, true, 5, true}}) {
    Process process;
    process.add(10, 20, {kernel, kind, told, 1, 0, bytes});
    const RankExchanges found = exchanges_of(process.imported);
    ASSERT_EQ(found.members.size(), 1u);
    EXPECT_EQ(found.members[0].size(), waits ? 1u : 0u) << kernel << to_string(kind) << told;
    EXPECT_EQ(found.others, waits ? 0u : 1u);
    EXPECT_EQ(found.rows.at(0).launches, 1u);
  }
}

TEST(Exchanges, HaveAllThatTheirKernelsSay) {
  Process process;
  process.imported.world_size = 8;
  process.imported.steps = {{0, 100, 17}, {100, 200, {}}};
  process.add(110, 125, {.step = 2});
  process.add(10, 20, {.step = 1, .bytes = 999});
  process.add(5, 9, {});
  ImportedKernel plain;
  plain.shape = process.imported.shapes.intern({});
  process.imported.kernels.add(plain);
  const RankExchanges found = exchanges_of(process.imported);
  EXPECT_EQ(found.world_size, 8u);
  ASSERT_EQ(found.members.size(), 1u);
  ASSERT_EQ(found.members[0].size(), 1u);
  const ExchangeChannel& channel = found.members[0].begin()->second;
  EXPECT_EQ(channel.ranks, 2u);
  EXPECT_TRUE(channel.named);
  ASSERT_EQ(channel.exchanges.size(), 3u);
  const Exchange &outside = channel.exchanges[0], &first = channel.exchanges[1],
                 &second = channel.exchanges[2];
  EXPECT_EQ(outside.start_ns, 5u) << "in the order of their times";
  EXPECT_FALSE(outside.counts);
  EXPECT_FALSE(outside.step);
  EXPECT_EQ(first.start_ns, 10u);
  EXPECT_EQ(first.end_ns, 20u);
  EXPECT_EQ(first.duration_ns(), 10u);
  EXPECT_EQ(first.sequence, 10u);
  EXPECT_EQ(first.step, 17u) << "the program's number";
  EXPECT_EQ(first.bytes, 999u);
  EXPECT_EQ(first.kind, Collective::all_reduce);
  EXPECT_TRUE(first.counts);
  EXPECT_FALSE(second.step);
  EXPECT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].launches, 2u) << "of those in steps";
  EXPECT_EQ(found.others, 0u);
}

TEST(Exchanges, WhatIsOutsideOfStepsIsNotCountedAmongOthers) {
  Process process;
  process.imported.steps = {{0, 100, {}}};
  for (const std::uint32_t step : {0u, 1u})
    process.add(10, 20, {"k", Collective::broadcast, true, 1, step});
  EXPECT_EQ(exchanges_of(process.imported).others, 1u);
}

TEST(Exchanges, CommunicatorsAreToldByWhatFilesSay) {
  Process process;
  process.add(1, 2, {.group = 1});
  process.add(3, 4, {.group = 2});
  process.add(5, 6, {.group = 0});
  process.add(7, 8, {.told = false, .group = 0, .stream = 40});
  process.add(9, 10, {.told = false, .group = 0, .stream = 30});
  process.add(11, 12, {.kernel = "ncclDevKernel_Other", .told = false, .group = 0, .stream = 30});
  process.add(13, 14, {.group = 1});
  const RankExchanges found = exchanges_of(process.imported);
  ASSERT_EQ(found.members.size(), 1u);
  std::map<std::string, std::size_t> sizes;
  for (const auto& [name, channel] : found.members[0]) sizes[name] = channel.exchanges.size();
  // Streams by their order: none (of the told ones), 30, 40.
  EXPECT_EQ(sizes, (std::map<std::string, std::size_t>{{"group\ntp\n2", 2},
                                                       {"group\ndp\n2", 1},
                                                       {"of\n2", 1},
                                                       {"stream\n2\nncclDevKernel_AllReduce", 1},
                                                       {"stream\n1\nncclDevKernel_AllReduce", 1},
                                                       {"stream\n1\nncclDevKernel_Other", 1}}));
  EXPECT_FALSE(found.members[0].at("of\n2").named);
  EXPECT_EQ(found.members[0].at("stream\n1\nncclDevKernel_Other").ranks, 0u);
}

TEST(Exchanges, EachGpuOfAProcessIsAMember) {
  Process process;
  process.add(1, 2, {.device = 0});
  process.add(3, 4, {.device = 1});
  process.add(5, 6, {.process = 1, .device = 0});
  process.add(7, 8, {.device = 1});
  const RankExchanges found = exchanges_of(process.imported);
  ASSERT_EQ(found.members.size(), 3u);
  EXPECT_EQ(found.members[1].begin()->second.exchanges.size(), 2u);
  EXPECT_EQ(found.rows.size(), 2u) << "rows of the report have a device and no process";
}

TEST(Exchanges, RowsAreThoseOfTheReport) {
  Process process;
  process.add(1, 2, {});
  process.grid = 5;
  process.add(3, 4, {});
  process.layer = process.imported.layers.child(0, "net");
  process.add(5, 6, {});
  process.grid = 4;
  process.add(7, 8, {});
  process.add(9, 10, {});
  const RankExchanges found = exchanges_of(process.imported);
  ASSERT_EQ(found.rows.size(), 4u);
  EXPECT_EQ(found.rows[3].launches, 2u);
}

// A report with the row of a process's kernels.
Report report_of(const Process& process, Recounted told = {}) {
  Report report;
  report.layers.emplace_back().id = 5;
  KernelRow& row = report.kernels.emplace_back();
  row.layer = 5;
  row.name = told.kernel;
  row.grid = {process.grid, 1, 1};
  row.block = {32, 1, 1};
  row.device = told.device;
  return report;
}

TEST(FillExchanges, RowsGetMeansWhereNearlyAllAreKnown) {
  for (const std::uint64_t known : {0, 18, 19, 20}) {
    Process process;
    for (int i = 0; i < 20; ++i) process.add(10, 20, {});
    RankExchanges found = exchanges_of(process.imported);
    found.rows[0].known = known;
    found.rows[0].wait_ns = 190;
    found.rows[0].transfer_ns = 380;
    found.rows[0].others_wait_ns = 95;
    found.rows[0].ranks = 2;
    Report report = report_of(process);
    fill_exchanges(found, report);
    ASSERT_EQ(report.kernels[0].collective.has_value(), known >= 19) << known;
    if (known != 19) continue;
    EXPECT_EQ(report.kernels[0].collective->wait_ns, 10);
    EXPECT_EQ(report.kernels[0].collective->transfer_ns, 20);
    EXPECT_EQ(report.kernels[0].collective->others_wait_ns, 5);
    EXPECT_EQ(report.kernels[0].collective->kind, Collective::all_reduce);
    EXPECT_EQ(report.kernels[0].collective->ranks, 2);
  }
}

TEST(FillExchanges, OtherRowsStay) {
  Process process;
  process.add(10, 20, {});
  RankExchanges found = exchanges_of(process.imported);
  found.rows[0].known = 1;
  const auto filled = [&](auto change) {
    Report report = report_of(process);
    change(report.kernels[0]);
    fill_exchanges(found, report);
    return report.kernels[0].collective && report.kernels[0].collective->wait_ns;
  };
  EXPECT_TRUE(filled([](KernelRow&) {}));
  EXPECT_FALSE(filled([](KernelRow& row) { row.grid.x = 5; }));
  EXPECT_FALSE(filled([](KernelRow& row) { row.block.y = 5; }));
  EXPECT_FALSE(filled([](KernelRow& row) { row.cluster.z = 5; }));
  EXPECT_FALSE(filled([](KernelRow& row) { row.dynamic_shared = 5; }));
  EXPECT_FALSE(filled([](KernelRow& row) { row.device = 5; }));
  EXPECT_FALSE(filled([](KernelRow& row) { row.name = "x"; }));
  EXPECT_FALSE(filled([](KernelRow& row) { row.direction = Direction::forward; }));
  EXPECT_FALSE(filled([](KernelRow& row) { row.layer = 6; }));
  EXPECT_FALSE(filled([](KernelRow& row) { row.graph = 1; }));
  const auto kept = [&](KernelRow& row) { row.collective.emplace().ranks = 7; };
  EXPECT_TRUE(filled(kept));
}

long notes_with(const Report& report, const std::string& piece) {
  return std::count_if(report.run.notes.begin(), report.run.notes.end(),
                       [&](const auto& note) { return note.find(piece) != std::string::npos; });
}

TEST(JoinRanks, GpusOfOneProcessAreMatched) {
  Process process;
  process.add(10, 110, {.stream = 1, .device = 0});
  process.imported.messages[0].sequence = 1;
  process.add(80, 110, {.stream = 1, .device = 1});
  process.imported.messages[1].sequence = 1;
  for (int i = 0; i < 2; ++i) process.add(200, 210, {"b", Collective::broadcast});
  ImportedRank rank{"a.json", report_of(process), exchanges_of(process.imported)};
  rank.report.run.notes = {"first"};
  std::vector<ImportedRank> ranks;
  ranks.push_back(std::move(rank));
  const Report report = join_ranks(std::move(ranks));
  ASSERT_TRUE(report.kernels.at(0).collective);
  EXPECT_EQ(report.kernels[0].collective->wait_ns, 70);
  EXPECT_EQ(report.kernels[0].collective->transfer_ns, 30);
  EXPECT_EQ(report.run.notes.front(), "first");
  EXPECT_TRUE(report.run.processes.empty()) << "it is the process's own report";
  EXPECT_EQ(notes_with(report, " of 2 launches that broadcast"), 1);
}

TEST(JoinRanks, OneGpuAloneWaitsForNobody) {
  Process process;
  process.add(10, 110, {});
  process.add(200, 210, {"b", Collective::broadcast});
  std::vector<ImportedRank> ranks;
  ranks.push_back({"a.json", report_of(process), exchanges_of(process.imported)});
  const Report report = join_ranks(std::move(ranks));
  EXPECT_TRUE(report.run.notes.empty());
  EXPECT_FALSE(report.kernels.at(0).collective);
}

TEST(JoinRanks, ProcessesAreMergedWithWhatTheyWaited) {
  std::vector<ImportedRank> ranks;
  for (const std::uint64_t start : {10, 80}) {
    Process process;
    process.add(start, 110, {});
    process.imported.messages[0].sequence = 1;
    Report report = report_of(process);
    report.run.rank = start == 10 ? 0 : 1;
    report.kernels[0].launches = 1;
    report.kernels[0].time_mean_ns = report.kernels[0].time_total_ns = 110.0 - start;
    ranks.push_back(
        {start == 10 ? "a.json" : "b.json", std::move(report), exchanges_of(process.imported)});
  }
  const Report report = join_ranks(std::move(ranks));
  EXPECT_EQ(report.run.processes.size(), 2u);
  ASSERT_TRUE(report.kernels.at(0).collective);
  EXPECT_EQ(report.kernels[0].collective->transfer_ns, 30);
}

}  // namespace
}  // namespace gable

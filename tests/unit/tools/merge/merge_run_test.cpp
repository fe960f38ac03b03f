// SPDX-License-Identifier: Apache-2.0
// What a merged report says of its run: which reports fit together, totals, overhead and notes.
#include <gtest/gtest.h>

#include "tests/unit/has_text.h"
#include "tests/unit/tools/merge/ranks.h"

namespace gable::tests {
namespace {

Report process(std::int64_t pid, std::optional<std::int64_t> rank = std::nullopt) {
  Report report;
  report.run.pid = pid;
  report.run.rank = rank;
  report.run.hostname = "node";
  report.run.unit = Unit::step;
  report.run.complete = true;
  return report;
}

std::string error_of(const Report& one, const Report& other) {
  const Merged all = merge_reports({one, other}, {"a.json", "b.json"});
  EXPECT_EQ(all.report.has_value(), all.error.empty());
  return all.error;
}

TEST(MergeRuns, ReportsThatDoNotFit) {
  EXPECT_FALSE(merge_reports({}, {}).error.empty());
  EXPECT_EQ(error_of(process(1), process(2)), "");
  EXPECT_EQ(error_of(process(1, 0), process(1, 1)), "");
  EXPECT_EQ(error_of(process(1, 0), process(1)), "");
  Report other = process(2);
  other.run.processes.resize(1);
  EXPECT_TRUE(has(error_of(process(1), other), "b.json is"));
  other = process(2);
  other.run.source = Source::playback;
  EXPECT_TRUE(has(error_of(process(1), other), "a.json and b.json "));
  EXPECT_TRUE(has(error_of(process(1), other), "from cupti, the other from playback"));
  other = process(2);
  other.run.unit = Unit::run;
  EXPECT_TRUE(has(error_of(process(1), other), "per step, the other per run"));
  other = process(2);
  other.run.scope = Scope::range;
  EXPECT_TRUE(has(error_of(process(1), other), "by kernel, of the other by range"));
  EXPECT_TRUE(has(error_of(process(1, 3), process(2, 3)), "b.json is rank 3"));
  EXPECT_TRUE(has(error_of(process(7), process(7)), "b.json is of process 7 on node"));
  other = process(7);
  other.run.hostname = "other";
  EXPECT_EQ(error_of(process(7), other), "");
  Report imported = process(7);
  imported.run.source = Source::imported;
  EXPECT_TRUE(has(error_of(imported, imported), "b.json is imported"));
}

TEST(MergeRuns, OneReportStaysAsItIs) {
  const Merged one = merge_reports({process(1, 5)}, {"a"});
  ASSERT_TRUE(one.report);
  EXPECT_EQ(one.report->run.rank, 5);
  EXPECT_TRUE(one.report->run.processes.empty());
}

TEST(MergeRuns, WhatAllHaveInCommon) {
  Report a = process(1, 4), b = process(2, 3);
  a.run.started_at = "2026-01-02";
  b.run.started_at = "2026-01-01";
  a.run.queue = b.run.queue = 2;
  a.run.wall_time_s = 10;
  b.run.wall_time_s = 12;
  a.run.steps = {10, 9, 8, 7, 1, "range", 5, 6};
  b.run.steps = {9, 10, 7, 8, 2, "range", 5, 6};
  a.step.wall_mean_ns = 100;
  b.step.host_mean_ns = 50;
  a.run.lost.records = 3;
  b.run.lost.records = 4;
  const RunInfo run = merged({a, b}).run;
  EXPECT_FALSE(run.rank);
  EXPECT_EQ(run.ranks, (std::vector<std::int64_t>{3, 4}));
  ASSERT_EQ(run.processes.size(), 2u);
  EXPECT_EQ(run.processes[0].pid, 1);
  EXPECT_EQ(run.processes[1].rank, 3);
  EXPECT_EQ(run.processes[0].step_wall_ns, 100.0);
  EXPECT_EQ(run.processes[1].step_host_ns, 50.0);
  EXPECT_TRUE(run.complete);
  EXPECT_EQ(run.started_at, "2026-01-01");
  EXPECT_EQ(run.queue, 2);
  EXPECT_EQ(run.wall_time_s, 12.0);
  EXPECT_EQ(run.hostname, "node");
  EXPECT_EQ(run.steps.seen, 9u);
  EXPECT_EQ(run.steps.hw, 9u);
  EXPECT_EQ(run.steps.flops, 7u);
  EXPECT_EQ(run.steps.time, 7u);
  EXPECT_EQ(run.steps.classes, 2u);
  EXPECT_EQ(run.steps.border, "range");
  EXPECT_EQ(run.steps.period, 5);
  EXPECT_EQ(run.steps.needed, 6);
  EXPECT_EQ(run.lost.records, 7u);
}

TEST(MergeRuns, WhereTheyDiffer) {
  Report a = process(1), b = process(2);
  a.run.wall_time_s = 10;
  b.run.hostname = "other";
  b.run.complete = false;
  a.run.steps.border = "range";
  a.run.steps.period = 5;
  a.run.steps.needed = 6;
  a.run.queue = 1;
  b.run.queue = 2;
  for (const auto& reports : {std::vector{a, b}, std::vector{b, a}}) {
    const RunInfo run = merged(reports).run;
    EXPECT_TRUE(run.ranks.empty());
    EXPECT_FALSE(run.complete);
    EXPECT_FALSE(run.wall_time_s);
    EXPECT_FALSE(run.queue);
    EXPECT_EQ(run.hostname, "several");
    EXPECT_EQ(run.steps.border, "");
    EXPECT_FALSE(run.steps.period);
    EXPECT_FALSE(run.steps.needed);
  }
}

TEST(MergeRuns, TotalsAreSumsAndTheRateIsWeighedByTime) {
  Report a = process(1), b = process(2);
  a.run.total = {10, 20, 100, 4, Basis::measured, "the first's"};
  b.run.total = {1, 2, 300, 8, Basis::measured, "the second's"};
  const auto total = merged({a, b}).run.total;
  EXPECT_EQ(total.flops, 11.0);
  EXPECT_EQ(total.bytes_dram, 22.0);
  EXPECT_EQ(total.gpu_time_ns, 400.0);
  EXPECT_EQ(total.flops_per_s, 7.0);  // (400 + 2400) / 400
  EXPECT_EQ(total.basis, Basis::measured);
  EXPECT_TRUE(has(total.basis_note, " 2 "));
  EXPECT_TRUE(has(total.basis_note, "the first's"));
  b.run.total.basis = Basis::extrapolated;
  b.run.total.flops_per_s.reset();
  b.run.total.flops.reset();
  const auto partly = merged({a, b}).run.total;
  EXPECT_FALSE(partly.flops);
  EXPECT_FALSE(partly.flops_per_s);
  EXPECT_EQ(partly.gpu_time_ns, 400.0);
  EXPECT_EQ(partly.basis, Basis::extrapolated);
  b.run.total.flops_per_s = 8;
  b.run.total.gpu_time_ns.reset();
  EXPECT_FALSE(merged({a, b}).run.total.flops_per_s);
  a.run.total.gpu_time_ns = b.run.total.gpu_time_ns = 0;
  EXPECT_FALSE(merged({a, b}).run.total.flops_per_s);
  a.run.total.gpu_time_ns = 0.5;
  EXPECT_EQ(merged({a, b}).run.total.flops_per_s, 4.0);
}

TEST(MergeRuns, OverheadIsSumsAndMeansOfPhases) {
  Report a = process(1), b = process(2);
  a.run.overhead.callbacks_ns = 1;
  b.run.overhead.callbacks_ns = 2;
  a.run.overhead.counter_image_bytes = 3;
  b.run.overhead.counter_image_bytes = 4;
  a.run.overhead.gpu_memory_bytes = 5;
  b.run.overhead.gpu_memory_bytes = 6;
  a.run.overhead.budget_percent = 1;
  a.run.overhead.window_wall_ns = {{"hw:1", 10}, {"time", 30}, {"flops", 5}};
  b.run.overhead.window_wall_ns = {{"hw:1", 20}, {"time", std::nullopt}};
  a.run.overhead.slowdown = {{"hw:1", 2}};
  b.run.overhead.slowdown = {{"hw:1", 5}};
  const auto overhead = merged({a, b}).run.overhead;
  EXPECT_EQ(overhead.callbacks_ns, 3.0);
  EXPECT_EQ(overhead.counter_image_bytes, 7.0);
  EXPECT_EQ(overhead.gpu_memory_bytes, 11.0);
  EXPECT_FALSE(overhead.budget_percent);
  EXPECT_EQ(overhead.window_wall_ns,
            (std::map<std::string, Maybe>{{"hw:1", 15}, {"time", std::nullopt}, {"flops", 5}}));
  EXPECT_EQ(overhead.slowdown, (std::map<std::string, Maybe>{{"hw:1", 3.5}}));
  b.run.overhead.window_wall_ns["hw:1"] = std::nullopt;
  EXPECT_FALSE(merged({b, a}).run.overhead.window_wall_ns["hw:1"]);
}

TEST(MergeRuns, NotesSayHowManyHaveThem) {
  Report a = process(1), b = process(2), c = process(3);
  a.run.notes = {"x", "everywhere", "x"};
  b.run.notes = {"everywhere", "y"};
  c.run.notes = {"everywhere", "y"};
  const auto notes = merged({a, b, c}).run.notes;
  ASSERT_EQ(notes.size(), 4u);
  EXPECT_TRUE(has(notes[0], " 3 "));
  EXPECT_TRUE(has(notes[1], " 1 of 3 ") && notes[1].ends_with(": x")) << notes[1];
  EXPECT_EQ(notes[2], "everywhere");
  EXPECT_TRUE(has(notes[3], " 2 of 3 ") && notes[3].ends_with(": y")) << notes[3];
}

std::string slowest(const std::vector<Report>& reports) {
  const auto notes = merged(reports).run.notes;
  return notes.size() > 1 ? notes.back() : "";
}

TEST(MergeRuns, TheSlowestByTheGpuOrElseByTheHost) {
  Report a = process(1, 0), b = process(2, 1), c = process(3);
  const auto set = [&](Maybe Step::*part, const Maybe& one, const Maybe& two, const Maybe& three) {
    a.step.*part = one;
    b.step.*part = two;
    c.step.*part = three;
  };
  EXPECT_EQ(slowest({a, b, c}), "");
  set(&Step::host_mean_ns, 10, 20, 60);
  EXPECT_TRUE(has(slowest({a, b, c}), "process 3 on node")) << slowest({a, b, c});
  EXPECT_TRUE(has(slowest({a, b, c}), "60.0 ns on the host, 100 % above")) << slowest({a, b, c});
  set(&Step::wall_mean_ns, 100, 160, 100);
  EXPECT_TRUE(has(slowest({a, b, c}), "rank 1 on node")) << slowest({a, b, c});
  EXPECT_TRUE(has(slowest({a, b, c}), "160 ns, 33.3 % above")) << slowest({a, b, c});
  set(&Step::wall_mean_ns, 160, 100, 100);
  EXPECT_TRUE(has(slowest({a, b, c}), "rank 0 on node"));
  set(&Step::wall_mean_ns, 100, 100, 100);
  EXPECT_EQ(slowest({a, b, c}), "");
  set(&Step::wall_mean_ns, 0, 0, 0);
  EXPECT_EQ(slowest({a, b, c}), "");
  set(&Step::wall_mean_ns, 0.5, 0.25, 0.25);
  EXPECT_TRUE(has(slowest({a, b, c}), " 50.0 % above"));
  set(&Step::wall_mean_ns, 100, std::nullopt, 100);
  EXPECT_TRUE(has(slowest({a, b, c}), "on the host"));
  for (Report* each : {&a, &b, &c}) each->run.unit = Unit::run;
  EXPECT_EQ(slowest({a, b, c}), "");
}

TEST(MergeRuns, NamesOfProcesses) {
  EXPECT_EQ(process_name({"node", 7, 3, {}, {}, {}, {}}), "rank 3 on node");
  EXPECT_EQ(process_name({"node", 7, std::nullopt, {}, {}, {}, {}}), "process 7 on node");
  EXPECT_EQ(process_name({"", 7, std::nullopt, {}, {}, {}, {}}), "process 7");
}

}  // namespace
}  // namespace gable::tests

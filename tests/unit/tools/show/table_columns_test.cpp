// SPDX-License-Identifier: Apache-2.0
// Which columns the table has, and what the lines about roofs and sources say.
#include "tools/show/table_columns.h"

#include <gtest/gtest.h>

#include "tools/show/roof_lines.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

TableRow row() {
  TableRow row;
  row.name = "net";
  row.process = "rank 3";
  row.device = 2;
  row.direction = Direction::backward;
  row.share = 0.25;
  row.sum.flops_per_s = 5e12;
  row.sum.bytes_per_s = 70e9;
  row.sum.intensity.dram = 4;
  row.sum.roof.bound = Bound::memory;
  row.sum.roof.fraction = 0.5;
  row.sum.saving_ns = 1000;
  row.rank_saving = 7000;
  return row;
}

std::string cell(const std::vector<Column>& columns, const std::string& head,
                 std::size_t index = 0) {
  for (const Column& column : columns)
    if (column.head == head) return column.cells.at(index);
  return "none";
}

std::vector<std::string> heads(const std::vector<Column>& columns) {
  std::vector<std::string> all;
  for (const Column& column : columns) all.push_back(column.head);
  return all;
}

TEST(TableColumns, WhatEveryTableHas) {
  TableRows table;
  table.time = "time";
  table.rows = {row(), TableRow()};
  const auto columns = table_columns(table, 2, false, true);
  EXPECT_EQ(heads(columns), (std::vector<std::string>{"layer", "time", "TFLOP/s", "GB/s", "FLOP/B",
                                                      "bound", "of roof", "saving"}));
  EXPECT_EQ(cell(columns, "layer"), "net");
  EXPECT_EQ(cell(columns, "time"), "25.0 %");
  EXPECT_EQ(cell(columns, "TFLOP/s"), "5.00");
  EXPECT_EQ(cell(columns, "GB/s"), "70.0");
  EXPECT_EQ(cell(columns, "FLOP/B"), "4.00");
  EXPECT_EQ(cell(columns, "bound"), "memory");
  EXPECT_EQ(cell(columns, "of roof"), "50.0 %");
  EXPECT_EQ(cell(columns, "saving"), "1.00 us");
  for (const char* head : {"time", "TFLOP/s", "GB/s", "FLOP/B", "of roof", "saving"})
    EXPECT_EQ(cell(columns, head, 1), "-") << head;
  for (std::size_t i = 0; i < columns.size(); ++i)
    EXPECT_EQ(columns[i].left, i == 0 || i == 5) << columns[i].head;
  EXPECT_EQ(table_columns(table, 1, false, true)[0].cells.size(), 1u);
}

TEST(TableColumns, WhatOnlySomeHave) {
  TableRows table;
  table.kernels = table.several_devices = table.several_directions = table.analytic = true;
  table.time = "time";
  table.rows = {row(), row(), row(), row()};
  table.rows[1].direction = Direction::none;
  table.rows[1].analytic = true;
  table.rows[2].sum.flops_per_s.reset();
  table.rows[2].tensor_inferred = true;
  table.rows[3].sum.flops_per_s.reset();
  table.rows[3].sum.bytes_per_s.reset();
  const auto columns = table_columns(table, 4, true, true);
  EXPECT_EQ(heads(columns),
            (std::vector<std::string>{"kernel", "process", "gpu", "direction", "time", "TFLOP/s",
                                      "GB/s", "FLOP/B", "bound", "of roof", "saving", "work"}));
  EXPECT_EQ(cell(columns, "process"), "rank 3");
  EXPECT_EQ(cell(columns, "gpu"), "2");
  EXPECT_EQ(cell(columns, "direction"), "backward");
  EXPECT_EQ(cell(columns, "direction", 1), "-");
  EXPECT_EQ(cell(columns, "TFLOP/s", 2), "tensor?");
  EXPECT_EQ(cell(columns, "TFLOP/s", 3), "-");
  EXPECT_EQ(cell(columns, "work"), "counted");
  EXPECT_EQ(cell(columns, "work", 1), "analytic");
  EXPECT_EQ(cell(columns, "work", 2), "counted");
  EXPECT_EQ(cell(columns, "work", 3), "-");
}

TEST(TableColumns, SavingsAreOfAStepOrOfTheRun) {
  TableRows table;
  table.rows = {row(), row()};
  table.rows[1].sum.saving_ns.reset();
  table.rows[0].sum.step_saving_self = table.rows[0].sum.step_saving = StepSaving{3000, 3000};
  EXPECT_EQ(cell(table_columns(table, 2, false, false), "saving"), "7.00 us");
  EXPECT_EQ(cell(table_columns(table, 2, false, false), "saving", 1), "-");
  EXPECT_EQ(cell(table_columns(table, 2, false, true), "saving"), "1.00 us");
  table.by_step = true;
  EXPECT_EQ(cell(table_columns(table, 2, false, true), "saving"), "3.00 us");
  EXPECT_EQ(cell(table_columns(table, 2, false, false), "saving"), "7.00 us");
}

TEST(TableColumns, LevelsOfTheMemory) {
  TableRows table;
  table.rows = {row()};
  table.level = MemoryLevel::l2;
  EXPECT_EQ(heads(table_columns(table, 1, false, true))[3], "GB/s L2");
  EXPECT_EQ(heads(table_columns(table, 1, false, true))[4], "FLOP/B L2");
  table.level = MemoryLevel::l1;
  EXPECT_EQ(heads(table_columns(table, 1, false, true))[3], "GB/s L1");
}

TEST(TableColumns, BoundsHaveColours) {
  const std::pair<Bound, std::string> all[] = {
      {Bound::memory, "34"}, {Bound::compute, "32"},  {Bound::latency, "33"},
      {Bound::small, "35"},  {Bound::overhead, "31"}, {Bound::communication, "36"},
      {Bound::unknown, ""}};
  for (const auto& [bound, colour] : all) {
    TableRows table;
    table.rows = {row()};
    table.rows[0].sum.roof.bound = bound;
    const auto columns = table_columns(table, 1, false, true);
    const char* found = columns[5].colours.at(0);
    EXPECT_EQ(found == nullptr ? "" : found, colour) << to_string(bound);
  }
}

TEST(TableColumns, MetricsAreShownWhereSomeRowHasThem) {
  TableRows table;
  table.rows = {row(), row()};
  const auto metric = [&](Maybe SetMetrics::*value) {
    table.rows[1].sum.metrics.emplace();
    (*table.rows[1].sum.metrics).*value = 0.5;
    const auto columns = table_columns(table, 2, false, true);
    if (columns.size() == 8) return std::string("none");
    EXPECT_EQ(columns[8].cells.at(0), "-");
    return columns[8].head + " " + columns[8].cells.at(1);
  };
  EXPECT_EQ(metric(&SetMetrics::occupancy), std::string(kMetricHeads[2]) + " 50.0 %");
  EXPECT_EQ(metric(&SetMetrics::warp_efficiency), std::string(kMetricHeads[3]) + " 50.0 %");
  EXPECT_EQ(metric(&SetMetrics::l1_hit_rate), std::string(kMetricHeads[4]) + " 50.0 %");
  EXPECT_EQ(metric(&SetMetrics::l2_hit_rate), std::string(kMetricHeads[5]) + " 50.0 %");
  EXPECT_EQ(metric(&SetMetrics::sectors_per_load), std::string(kMetricHeads[6]) + " 0.500");
  EXPECT_EQ(metric(&SetMetrics::compute_throughput), "none") << "there is a fraction of a roof";
  EXPECT_EQ(metric(&SetMetrics::memory_throughput), "none");
  table.rows[1].sum.roof.fraction.reset();
  EXPECT_EQ(metric(&SetMetrics::compute_throughput), std::string(kMetricHeads[0]) + " 50.0 %");
  EXPECT_EQ(metric(&SetMetrics::memory_throughput), std::string(kMetricHeads[1]) + " 50.0 %");
}

Report clocked(double measured, std::uint64_t highest) {
  Report report;
  report.devices.emplace_back().id = 1;
  report.devices[0].sm_clock_max_hz = highest;
  report.sm_clock_measured_hz[1] = measured;
  return report;
}

Ceiling roof(const char* name, const char* source, SmClock clock = SmClock::none) {
  return {1,      std::string(name) == "dram" ? CeilingKind::memory : CeilingKind::compute,
          name,   1e12,
          source, clock};
}

TEST(RoofsLine, ClocksThatDifferByMoreThanOnePercent) {
  const auto says_highest = [](double measured, std::uint64_t highest) {
    Report report = clocked(measured, highest);
    report.ceilings = {roof("fp32",
                            "theoretical: 2 SMs x 3 per clock x 1.5 GHz, the measured clock",
                            SmClock::measured)};
    return roofs_line({report}).find(" (highest ") != std::string::npos;
  };
  EXPECT_TRUE(says_highest(1.5e9, 2'000'000'000));
  EXPECT_FALSE(says_highest(1.985e9, 2'000'000'000));
  EXPECT_TRUE(says_highest(1.975e9, 2'000'000'000));
  EXPECT_FALSE(says_highest(2.015e9, 2'000'000'000));
  EXPECT_TRUE(says_highest(2.025e9, 2'000'000'000));
  EXPECT_FALSE(says_highest(1.5e9, 0));
}

TEST(RoofsLine, SaysWhoseFiguresTheRoofsAre) {
  Report one = clocked(1.5e9, 2'000'000'000);
  EXPECT_EQ(roofs_line({}), "");
  EXPECT_EQ(roofs_line({one}), "Roofs: unknown");
  one.ceilings = {
      roof("fp32", "theoretical: 2 SMs x 3 per clock x 2 GHz, the highest clock; a guide",
           SmClock::boost),
      roof("dram", "theoretical: 3.2 GHz x 6144 bit x 2")};
  EXPECT_EQ(roofs_line({one}), "Roofs: theoretical at 2 GHz, the highest clock");
  one.ceilings.push_back(roof(
      "fp32", "theoretical: 2 SMs x 3 per clock x 1.5 GHz, the measured clock", SmClock::measured));
  Report other = one;
  other.sm_clock_measured_hz[1] = 1.6e9;
  EXPECT_EQ(
      roofs_line({one, one}),
      "Roofs: theoretical at 1.50 GHz, the SM clock of the counter windows (highest 2.00 GHz)");
  EXPECT_NE(roofs_line({one, other}).find("2.00 GHz), 1.60 GHz, the SM"), std::string::npos);
  one.ceilings.push_back(roof("dram", "measured: streaming read"));
  one.ceilings.push_back(roof("l2", "theoretical: CUPTI states 6144 byte per cycle x 1.6 GHz"));
  EXPECT_EQ(
      roofs_line({one}),
      "Roofs: dram measured by gable ceilings; l2 stated by CUPTI at the clocks of the counter "
      "windows; others theoretical at 1.50 GHz, the SM clock of the counter windows (highest "
      "2.00 GHz)");
  one.ceilings = {roof("dram", "measured: streaming read")};
  EXPECT_EQ(roofs_line({one}), "Roofs: measured by gable ceilings");
  one.ceilings = {roof("fp32", "theoretical: A100 data sheet"),
                  roof("dram", "theoretical: A100 data sheet")};
  EXPECT_EQ(roofs_line({one}), "Roofs: theoretical (A100 data sheet)");
  one.ceilings.push_back(roof("l1", "theoretical: ncu states 64 byte per cycle (m) x 1 GHz, while",
                              SmClock::measured));
  EXPECT_EQ(
      roofs_line({one}),
      "Roofs: fp32, dram theoretical (A100 data sheet); l1 stated by ncu at the clocks while it "
      "counted");
}

TEST(Sources, ProgramsAndGpus) {
  Report one = clocked(1e9, 0);
  EXPECT_EQ(programs_and_gpus({one}, 100), "") << "nothing ran on it";
  one.layers.emplace_back().device = 1;
  EXPECT_EQ(programs_and_gpus({one}, 100), "a program on an unknown GPU");
  one.devices[0].name = "NVIDIA H200";
  one.run.command = {"python", "train.py", "--data", "/a/long/path/to/all/of/it"};
  EXPECT_EQ(programs_and_gpus({one}, 100),
            "python train.py --data /a/long/path/to/all/of/it on NVIDIA H200");
  EXPECT_EQ(programs_and_gpus({one}, 40), "python train.py --data /\u2026 on NVIDIA H200");
  EXPECT_EQ(programs_and_gpus({one, one}, 100),
            "python train.py --data /a/long/path/to/all/of/it on 2 x NVIDIA H200");
  one.run.command = {"/b/gable-player", "/r/resnet.jsonl"};
  EXPECT_EQ(programs_and_gpus({one}, 100), "the recording resnet.jsonl on NVIDIA H200");
  Report imported;
  imported.run.source = Source::imported;
  EXPECT_EQ(programs_and_gpus({imported}, 100), "a program on an unknown GPU");
}

TEST(Sources, EachOnceAndNoneForHardware) {
  const auto of = [](std::vector<Source> sources) {
    std::vector<Report> reports(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) reports[i].run.source = sources[i];
    return reports;
  };
  EXPECT_EQ(source_mark(of({Source::cupti})), "");
  EXPECT_EQ(source_mark(of({Source::imported, Source::cupti, Source::playback, Source::imported})),
            "[playback] [import] ");
  EXPECT_EQ(source_mark(of({Source::predicted})), "[predicted] ");
  EXPECT_EQ(sources_of(of({Source::cupti, Source::predicted})),
            (std::vector<std::string>{"predicted", "cupti"}));
}

}  // namespace
}  // namespace gable

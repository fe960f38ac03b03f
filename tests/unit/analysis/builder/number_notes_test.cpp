// SPDX-License-Identifier: Apache-2.0
// Notes about how numbers came about: when there is one, and the counts in it.
#include "analysis/builder/number_notes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/analysis/profile_fixture.h"

namespace gable::tests {
namespace {

class NumberNotes : public ::testing::Test {
 protected:
  NumberNotes() {
    report.ceilings = {{0, CeilingKind::compute, "fp32", 1e13, "theoretical"},
                       {0, CeilingKind::memory, "dram", 1e12, "theoretical"}};
    report.step.launch_latency_ns = 3000;
    report.run.source = Source::cupti;
  }
  std::vector<std::string> notes() { return number_notes(state, report); }
  // The only note.
  std::string note() {
    const auto all = notes();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? std::string() : all.front();
  }
  bool says(const std::string& part) {
    const auto all = notes();
    return std::any_of(all.begin(), all.end(), [&](const std::string& each) {
      return each.find(part) != std::string::npos;
    });
  }
  KernelRow& kernel(std::vector<std::string> flags = {}) {
    KernelRow& row = report.kernels.emplace_back();
    row.flags = std::move(flags);
    return row;
  }
  LayerRow& layer(std::vector<std::string> path) {
    LayerRow& row = report.layers.emplace_back();
    row.depth = static_cast<decltype(row.depth)>(path.size());
    row.path = std::move(path);
    return row;
  }

  LayerTree layers;
  FunctionTable functions;
  Profile::State state{layers, functions, {}, {}};
  Report report;
};

TEST_F(NumberNotes, OfNothingThereIsNone) { EXPECT_TRUE(notes().empty()); }

TEST_F(NumberNotes, EachFlagHasOneWithItsCount) {
  for (const char* flag :
       {"tensor_inferred", "tensor_unknown", "cuda_cores_unknown", "hfma_moves", "integer_unknown",
        "narrow_together", "l1_partial", "l1_unchecked", "l2_all", "launches_differ", "work_varies",
        "mixed_work", "spread", "times_differ", "overlapped", "above_roof"}) {
    report.kernels.clear();
    const bool of_layers = std::string_view(flag) == "overlapped";
    kernel({"other", flag});
    kernel();
    EXPECT_NE(note().find(of_layers ? "1 layer " : "1 kernel"), std::string::npos) << flag;
    EXPECT_EQ(note().find("1 kernels"), std::string::npos) << flag;
    kernel({flag});
    EXPECT_NE(note().find(of_layers ? "2 layers " : "2 kernels"), std::string::npos) << flag;
  }
}

// Bytes or FLOPs of a kernel that was launched once in the run.
TEST_F(NumberNotes, ALaunchThatWasAloneWasCountedOnce) {
  report.run.unit = Unit::run;
  const auto once = [&](std::uint64_t hw, std::uint64_t flops, double launches = 1) -> KernelRow& {
    report.kernels.clear();
    KernelRow& row = kernel();
    row.launches = launches;
    row.samples_hw = hw;
    row.samples_flops = flops;
    return row;
  };
  const KernelRow alone = once(0, 1);
  EXPECT_EQ(note().rfind("1 kernel was launched once and has ", 0), 0u);
  kernel() = alone;
  EXPECT_EQ(note().rfind("2 kernels were launched once and have ", 0), 0u);
  once(1, 0).flags = {"cuda_cores_unknown"};
  EXPECT_TRUE(says("1 kernel was launched once"));
  once(1, 1).flags = {"cuda_cores_unknown"};
  EXPECT_FALSE(says("launched once"));
  once(1, 0);
  EXPECT_TRUE(notes().empty());
  once(0, 0);
  EXPECT_TRUE(notes().empty());
  once(0, 1, 2);
  EXPECT_TRUE(notes().empty());
  once(0, 1).ranges = 1;
  EXPECT_TRUE(notes().empty());
  once(0, 1);
  report.run.source = Source::imported;
  EXPECT_TRUE(notes().empty());
  report.run.source = Source::cupti;
  report.run.unit = Unit::step;
  EXPECT_TRUE(notes().empty());
}

// More than 10 % off either way; the layer that is furthest off has its name in it.
TEST_F(NumberNotes, CountedFlopsThatAreNotThoseOfTheFormulas) {
  const auto with_ratio = [&](const char* name, double ratio, double flops = 10) -> LayerRow& {
    LayerRow& row = layer({name});
    row.model.emplace().self.flops = flops;
    row.model->flops_ratio = ratio;
    return row;
  };
  state.classes.step(7);
  state.models.emplace_back().sequence_hash = 7;
  with_ratio("same", 1.09);
  with_ratio("below", 0.91);
  layer({"none"});
  EXPECT_TRUE(notes().empty());
  with_ratio("above", 1.2).direction = Direction::backward;
  EXPECT_NE(note().find("1 layer "), std::string::npos);
  EXPECT_NE(note().find("above (backward, 1.2 times"), std::string::npos);
  with_ratio("half", 0.5);  // further than 1.9 times
  with_ratio("less", 1.9);
  with_ratio("unused", 5, 0);
  with_ratio("nothing", 0);
  with_ratio("unknown", 1).model->flops_ratio.reset();
  EXPECT_NE(note().find("3 layers "), std::string::npos);
  EXPECT_NE(note().find("half (none, 0.5 times"), std::string::npos);
}

TEST_F(NumberNotes, FormulasThatAreAboveTheRoof) {
  state.classes.step(7);
  state.models.emplace_back().sequence_hash = 7;
  layer({"a"}).model.emplace().roof.fraction = 1;
  EXPECT_TRUE(notes().empty());
  layer({"b"}).model.emplace().roof.fraction = 1.01;
  EXPECT_NE(note().find("1 layer is"), std::string::npos);
  layer({"c"}).model.emplace().roof.fraction = 2;
  layer({"d"});
  EXPECT_NE(note().find("2 layers are"), std::string::npos);
}

// 95 % of the steps.
TEST_F(NumberNotes, AModelOfFewSteps) {
  layer({"a"}).model.emplace();
  state.models.emplace_back().sequence_hash = 7;
  for (int i = 0; i < 19; ++i) state.classes.step(7);
  state.classes.step(8);
  EXPECT_TRUE(notes().empty());
  state.classes.step(8);
  EXPECT_NE(note().find("95 %"), std::string::npos);
  report.layers.clear();
  layer({"a"});
  EXPECT_TRUE(notes().empty());
}

// Shares of the time of the devices' roots: 30 x 0.5 + 10 x 0.9 of 40 ns, and 30 x 0.2 of it.
TEST_F(NumberNotes, ABudgetSaysWhatItBought) {
  report.run.overhead.budget_percent = 5;
  EXPECT_NE(note().find("--budget 5 %"), std::string::npos);
  EXPECT_NE(note().find("unknown"), std::string::npos);
  EXPECT_EQ(note().find(';'), std::string::npos);
  report.run.overhead.added_percent = 1.234;
  EXPECT_NE(note().find("1.23 %"), std::string::npos);
  LayerRow root;
  root.time_total_ns = 30;
  root.coverage.bytes = 0.5;
  root.coverage.flops = 0.2;
  LayerRow second;
  second.time_total_ns = 10;
  second.coverage.bytes = 0.9;
  LayerRow below = second;
  below.depth = 1;
  report.layers = {root, below, LayerRow(), second};
  EXPECT_NE(note().find(" 60 % "), std::string::npos) << note();
  EXPECT_NE(note().find(" 15 % FLOPs."), std::string::npos) << note();
}

TEST_F(NumberNotes, DevicesWithoutRoofs) {
  kernel();
  EXPECT_TRUE(notes().empty());
  kernel().device = 3;
  kernel().device = 3;
  EXPECT_NE(note().find("compute and memory"), std::string::npos);
  EXPECT_NE(note().find("device 3 "), std::string::npos);
  report.ceilings.push_back({3, CeilingKind::compute, "fp32", 1, ""});
  EXPECT_EQ(note().find("compute"), std::string::npos);
  EXPECT_NE(note().find("memory"), std::string::npos);
  report.ceilings.back().kind = CeilingKind::memory;
  EXPECT_NE(note().find("compute"), std::string::npos);
  EXPECT_EQ(note().find("memory"), std::string::npos);
}

TEST_F(NumberNotes, LaunchSequencesThatNoTimeWindowSaw) {
  for (const std::uint64_t hash : {1, 1, 2, 3, 3}) state.classes.step(hash);
  EXPECT_TRUE(notes().empty());  // nothing was timed
  const auto timed = [&](std::uint64_t hash) {
    state.sums_of(hash).kept_windows[kind_index(PhaseKind::time)] = 1;
  };
  state.kept_windows[kind_index(PhaseKind::time)] = 1;
  timed(1);
  (void)state.classes.place(3);
  EXPECT_EQ(note().rfind("3 of 5 steps had 2 launch sequences ", 0), 0u) << note();
  timed(2);
  EXPECT_EQ(note().rfind("2 of 5 steps had 1 launch sequence ", 0), 0u) << note();
  timed(3);
  EXPECT_TRUE(notes().empty());
}

TEST_F(NumberNotes, Graphs) {
  kernel().graph = 1;
  EXPECT_EQ(note().rfind("1 CUDA graph is", 0), 0u);
  kernel().graph = 2;
  EXPECT_EQ(note().rfind("2 CUDA graphs are", 0), 0u);
  report.kernels.clear();
  state.unknown_graph_launches = 1;
  EXPECT_EQ(note().rfind("1 CUDA graph launch is", 0), 0u);
  state.unknown_graph_launches = 2;
  EXPECT_EQ(note().rfind("2 CUDA graph launches are", 0), 0u);
  state.unknown_graph_launches = 0;
  state.unplaced_kernels = 1;
  EXPECT_EQ(note().rfind("1 kernel of a CUDA graph is", 0), 0u);
  state.unplaced_kernels = 2;
  EXPECT_EQ(note().rfind("2 kernels of CUDA graphs are", 0), 0u);
}

TEST_F(NumberNotes, AStepWhoseLengthIsNotKnown) {
  report.run.unit = Unit::step;
  EXPECT_TRUE(notes().empty());  // nothing was timed
  state.kept_windows[kind_index(PhaseKind::time)] = 1;
  EXPECT_NE(note().find("missing"), std::string::npos);
  report.step.busy_ns = 5;
  EXPECT_EQ(note().find("missing"), std::string::npos);
  const std::string of_programs = note();
  report.run.source = Source::imported;
  EXPECT_TRUE(notes().empty());  // no steps were named
  report.run.steps.border = "range";
  EXPECT_NE(note(), of_programs);
  report.step.wall_mean_ns = 7;
  EXPECT_TRUE(notes().empty());
  report.step.wall_mean_ns.reset();
  report.run.unit = Unit::run;
  EXPECT_TRUE(notes().empty());
}

TEST_F(NumberNotes, StepsThatCouldNotBeRecorded) {
  state.step_records_ahead = 1;
  EXPECT_NE(note(), "");
  state.step_records.emplace_back();
  EXPECT_TRUE(notes().empty());
}

// A kernel of less than 10 us may lie within a launch.
TEST_F(NumberNotes, ALaunchLatencyThatWouldMatter) {
  report.step.launch_latency_ns.reset();
  KernelRow& row = kernel();
  row.time_source = TimeSource::time;
  row.time_mean_ns = 10'000;
  EXPECT_TRUE(notes().empty());
  row.time_mean_ns = 9'999;
  EXPECT_EQ(note().find("--step-range"), std::string::npos);
  report.run.source = Source::imported;
  EXPECT_NE(note().find("--step-range"), std::string::npos);
  state.step_records.emplace_back();
  EXPECT_EQ(note().find("--step-range"), std::string::npos);
  row.time_source = TimeSource::hw;
  EXPECT_TRUE(notes().empty());
  row.time_source = TimeSource::time;
  report.step.launch_latency_ns = 3000;
  EXPECT_TRUE(notes().empty());
}

TEST_F(NumberNotes, WindowsThatWereThrownAway) {
  state.reasons = {{"Because.", {1, 0}}, {"Otherwise.", {2, 3}}};
  const auto all = notes();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].rfind("1 window was", 0), 0u);
  EXPECT_TRUE(all[0].ends_with(": Because."));
  EXPECT_EQ(all[1].rfind("2 windows were thrown away", 0), 0u);
  EXPECT_EQ(all[2], "3 windows measured nothing: Otherwise.");  // beside "Nothing was lost"
}

TEST_F(NumberNotes, TimesOfCounterWindows) {
  kernel().time_source = TimeSource::hw;
  EXPECT_EQ(note().find("1 kernel "), std::string::npos);  // it is true of all
  kernel().time_source = TimeSource::time;
  report.kernels.back().time_mean_ns = 1e6;
  EXPECT_NE(note().find("1 kernel "), std::string::npos);
  kernel().time_source = TimeSource::hw;
  EXPECT_NE(note().find("2 kernels "), std::string::npos);
  report.run.source = Source::imported;
  EXPECT_TRUE(notes().empty());
  report.kernels.resize(1);
  EXPECT_TRUE(notes().empty());
}

TEST_F(NumberNotes, LaunchesOfThreadsWithoutARangeAndRareKeys) {
  state.launches_inherited = 1;
  EXPECT_EQ(note().rfind("1 launch ", 0), 0u);
  state.launches_inherited = 2;
  EXPECT_EQ(note().rfind("2 launches ", 0), 0u);
  state.launches_inherited = 0;
  report.run.lost.folded_keys = 1;
  EXPECT_EQ(note().rfind("1 rare launch key is", 0), 0u);
  report.run.lost.folded_keys = 2;
  EXPECT_EQ(note().rfind("2 rare launch keys are", 0), 0u);
}

TEST_F(NumberNotes, CopiesOfRunsAreThoseOfTimeWindows) {
  report.run.unit = Unit::run;
  EXPECT_TRUE(notes().empty());
  report.copies.emplace_back();
  EXPECT_NE(note(), "");
  report.run.source = Source::imported;
  EXPECT_TRUE(notes().empty());
  report.run.source = Source::cupti;
  report.run.unit = Unit::step;
  EXPECT_TRUE(notes().empty());
}

}  // namespace
}  // namespace gable::tests

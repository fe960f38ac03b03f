// SPDX-License-Identifier: Apache-2.0
// The replay of made-up programs, against an executor of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "analysis/step_graph/graph_builder.h"
#include "analysis/step_graph/step_replay.h"
#include "tests/unit/analysis/step_graph/made_up_graphs.h"

namespace gable {
namespace {

using made_up::Draw;
using made_up::Execution;
using made_up::kStep;
using made_up::Program;

// The longest way to the start of a node, over every path there is.
std::uint64_t longest(const StepReplay& replay, std::uint32_t node, std::uint32_t step) {
  const auto& nodes = replay.nodes();
  std::uint64_t most = 0;
  for (const StepReplay::Edge& edge : replay.edges_to(node)) {
    if (edge.steps_back > step) continue;
    const bool split = (nodes[edge.from].flags & kPdlBody) != 0;
    const std::uint32_t leaves = is_from_start(edge.kind) && split ? edge.from - 1 : edge.from;
    const std::uint64_t start = longest(replay, leaves, step - edge.steps_back);
    std::uint64_t way = start + edge.lag_ns;
    if (!is_from_start(edge.kind)) way += nodes[leaves].length_ns;
    if (edge.kind == EdgeKind::pdl_start)
      way = std::min(
          way, longest(replay, edge.from, step - edge.steps_back) + nodes[edge.from].length_ns);
    most = std::max(most, way);
  }
  return most + nodes[node].residual_ns;
}

TEST(StepReplayProperties, OfSmallProgramsIsTheLongestOfAllPaths) {
  std::uint32_t small = 0;
  for (std::uint32_t seed = 0; seed < made_up::programs(); ++seed) {
    const Program program = made_up::make_program(seed);
    if (program.step.size() > 6) continue;  // two steps of at most six calls
    SCOPED_TRACE("program " + std::to_string(seed));
    const Execution execution = made_up::recorded(program);
    const StepGraph graph = build_step_graph(execution.recorded);
    const StepReplay replay = StepReplay::of(graph, kStep).value();
    ++small;
    const auto starts = replay.starts({}, 2);
    for (std::uint32_t node = 0; node < replay.nodes().size(); ++node)
      ASSERT_EQ(starts[replay.nodes().size() + node], longest(replay, node, 1)) << "node " << node;
  }
  EXPECT_GT(small, made_up::programs() / 10);
}

bool is_near(double ours, double theirs) { return std::abs(ours - theirs) <= 1e-9 * theirs; }

// Operations of some keys take no time, half or twice theirs, in the records and in the program.
struct Changed {
  Change change;
  std::vector<std::uint64_t> lengths;
};
Changed draw_change(Draw& draw, const Program& program, const RecordedSteps& recorded,
                    std::uint32_t ways) {
  Changed result;
  result.change.length_ns.assign(recorded.operations.size(), kSameLength);
  result.lengths = program.lengths;
  for (std::size_t key = 0; key < program.lengths.size(); ++key) {
    const std::uint32_t way = draw.below(5);
    const auto changed = [&](std::uint64_t length) {
      return way == 0 ? 0 : way == 1 ? length / 2 : length * 2;
    };
    if (way >= ways) continue;
    result.lengths[key] = changed(program.lengths[key]);
    for (std::size_t i = 0; i < recorded.operations.size(); ++i) {
      const RecordedOperation& operation = recorded.operations[i];
      if (operation.key == key)
        result.change.length_ns[i] = changed(operation.end_ns - operation.start_ns);
    }
  }
  return result;
}

TEST(StepReplayProperties, StepsAreAsLongAsTheExecutorsBeforeAndAfterAChange) {
  std::uint32_t compared = 0, queue_unseen = 0, lags_unseen = 0, slow = 0;
  for (std::uint32_t seed = 0; seed < made_up::programs(); ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    const Program program = made_up::make_program(seed);
    const Execution execution = made_up::recorded(program);
    const StepGraph graph = build_step_graph(execution.recorded);
    const StepReplay replay = StepReplay::of(graph, kStep).value();
    EXPECT_EQ(replay.unmatched_edges(), 0u);
    Draw draw(seed + 1000000);
    const Changed changed = draw_change(draw, program, execution.recorded, 3);
    const double ours = replay.base().step_ns, ours_after = replay.steady(changed.change).step_ns;
    // Of a queue that was never full nobody knows the depth: then there is no limit.
    Program unlimited = program;
    if (graph.queue_depth == 0) unlimited.depth = 0;
    EXPECT_EQ(graph.queue_depth, unlimited.depth);
    queue_unseen += unlimited.depth == program.depth ? 0 : 1;
    // What was never idle, or never waited for its stream alone, may be so after the change.
    const bool lags_known = graph.latency_known && graph.gap_known;
    ++(lags_known ? compared : lags_unseen);

    const std::size_t place = made_up::border_place(program, execution.recorded, graph);
    bool before_is_same = false, after_is_same = !lags_known;
    double before = 0, after = 0;
    // What fills or drains slowly takes long to become steady.
    for (const std::uint32_t steps : {50u, 500u, 5000u}) {
      if (before_is_same && after_is_same) break;
      slow += steps == 500 ? 1 : 0;
      before = made_up::truth(unlimited, program.lengths, place, steps);
      before_is_same = is_near(ours, before);
      after = made_up::truth(unlimited, changed.lengths, place, steps);
      after_is_same = after_is_same || is_near(ours_after, after);
    }
    EXPECT_TRUE(before_is_same) << ours << " instead of " << before;
    EXPECT_TRUE(after_is_same) << "after the change " << ours_after << " instead of " << after;
    if (lags_known) {  // and so there are no residuals
      Change nothing;
      nothing.keep_residuals = false;
      EXPECT_EQ(replay.steady(nothing).step_ns, ours);
    }
    EXPECT_EQ(replay.saving(changed.change).high_ns, std::clamp(ours - ours_after, 0.0, ours));
    if (HasFailure()) return;
  }
  std::printf(
      "steps: %u programs compared after a change, %u of them without a queue; lags "
      "unseen %u, slow %u\n",
      compared, queue_unseen, lags_unseen, slow);
  EXPECT_GT(compared, made_up::programs() * 6 / 10);
}

// A call that would wait returns at once, in the program and in the replay.
TEST(StepReplayProperties, StepsWithoutTheHostsWaitsAreAsLongAsTheExecutors) {
  std::uint32_t compared = 0, shorter = 0;
  for (std::uint32_t seed = 0; seed < made_up::programs(); ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    Program program = made_up::make_program(seed);
    const Execution execution = made_up::recorded(program);
    const StepGraph graph = build_step_graph(execution.recorded);
    const StepReplay replay = StepReplay::of(graph, kStep).value();
    if (!graph.latency_known || !graph.gap_known) continue;
    ++compared;
    const double ours = replay.steady(replay.without({.waits = true})).step_ns;
    shorter += ours < replay.base().step_ns ? 1 : 0;
    const std::size_t place = made_up::border_place(program, execution.recorded, graph);
    if (graph.queue_depth == 0) program.depth = 0;
    program.waits = false;
    bool same = false;
    double theirs = 0;
    for (const std::uint32_t steps : {50u, 500u, 5000u}) {
      if (same) break;
      theirs = made_up::slowest_truth(program, execution, place, steps);
      same = is_near(ours, theirs);
    }
    ASSERT_TRUE(same) << ours << " instead of " << theirs;
  }
  std::printf("waits: %u programs compared without, %u of them shorter\n", compared, shorter);
  EXPECT_GT(compared, made_up::programs() * 6 / 10);
  EXPECT_GT(shorter, compared / 2);
}

TEST(StepReplayProperties, SavingsAreNotNegativeAndMoreChangesSaveMore) {
  for (std::uint32_t seed = 0; seed < made_up::programs(); ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    const Program program = made_up::make_program(seed);
    const Execution execution = made_up::recorded(program);
    const StepGraph graph = build_step_graph(execution.recorded);
    const StepReplay replay = StepReplay::of(graph, kStep).value();
    Draw draw(seed + 2000000);
    const Change a = draw_change(draw, program, execution.recorded, 2).change;
    const Change b = draw_change(draw, program, execution.recorded, 2).change;
    Change both = a;
    for (std::size_t i = 0; i < both.length_ns.size(); ++i)
      both.length_ns[i] = std::min(a.length_ns[i], b.length_ns[i]);
    const double step = replay.base().step_ns;
    const SavingRange of_a = replay.saving(a), of_b = replay.saving(b);
    const SavingRange of_both = replay.saving(both);
    for (const SavingRange& saving : {of_a, of_b, of_both}) {
      EXPECT_GE(saving.low_ns, 0);
      EXPECT_LE(saving.low_ns, saving.high_ns);
      EXPECT_LE(saving.high_ns, step);
    }
    const double least = (1 - 1e-12) * std::max(of_a.high_ns, of_b.high_ns);
    EXPECT_GE(of_both.high_ns, least);
    const double all =
        replay.saving(replay.without({.communication = true, .copies = true, .host_gaps = true}))
            .high_ns;
    EXPECT_GE(all, (1 - 1e-12) * replay.saving(replay.without({.communication = true})).high_ns);
    EXPECT_GE(all, (1 - 1e-12) * replay.saving(replay.without({.copies = true})).high_ns);
    EXPECT_GE(all, (1 - 1e-12) * replay.saving(replay.without({.host_gaps = true})).high_ns);
    if (HasFailure()) return;
  }
}

TEST(StepReplayProperties, WhatHasSlackCostsWhatExceedsIt) {
  std::uint32_t slack = 0, critical = 0;
  for (std::uint32_t seed = 0; seed < made_up::programs(); ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    const Program program = made_up::make_program(seed);
    const Execution execution = made_up::recorded(program);
    const StepGraph graph = build_step_graph(execution.recorded);
    const StepReplay replay = StepReplay::of(graph, kStep).value();
    const auto starts = replay.starts({}, 1);
    const auto last =
        static_cast<std::size_t>(std::max_element(starts.begin(), starts.end()) - starts.begin());
    for (std::size_t node = 0; node < last; ++node) {
      const auto& looked_at = replay.nodes()[node];
      if (looked_at.operation == kNoIndex || (looked_at.flags & kPdlBody)) continue;
      const auto later_by = [&](std::int64_t longer) {
        Change change;
        change.length_ns.assign(looked_at.operation + std::size_t{1}, kSameLength);
        change.length_ns.back() =
            static_cast<std::uint64_t>(static_cast<std::int64_t>(looked_at.length_ns) + longer);
        return static_cast<std::int64_t>(replay.starts(change, 1)[last]) -
               static_cast<std::int64_t>(starts[last]);
      };
      constexpr std::int64_t kLong = 1000000000;
      const std::int64_t cost = later_by(kLong);
      // Nothing waits for it, or only a kernel that begins early, at the latest when it ends.
      if (cost == 0 || later_by(2 * kLong) != cost + kLong) continue;
      const std::int64_t free = kLong - cost;
      ++(free > 0 ? slack : critical);
      for (const std::int64_t longer : {free / 2, free, free + 1, free + 5000})
        EXPECT_EQ(later_by(longer), std::max<std::int64_t>(0, longer - free));
      const std::int64_t saved = -later_by(-static_cast<std::int64_t>(looked_at.length_ns));
      EXPECT_GE(saved, 0);
      if (free > 0) {
        EXPECT_EQ(saved, 0);
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(slack, made_up::programs() / 2);
  EXPECT_GT(critical, made_up::programs());
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Records that are wrong. Nothing crashes, the pieces of the path still add up to the step, and
// the quality says that something is wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "analysis/step_graph/critical_path.h"
#include "analysis/step_graph/exposed.h"
#include "analysis/step_graph/graph_builder.h"
#include "analysis/step_graph/step_replay.h"
#include "tests/unit/analysis/step_graph/made_up_graphs.h"

namespace gable {
namespace {

using made_up::Draw;
using made_up::kStep;

std::uint32_t violated(const StepGraph& graph) {
  return std::accumulate(graph.violated.begin(), graph.violated.end(), 0u);
}

// Everything that can be asked about the steps. Returns the graph of `recorded`.
StepGraph ask_everything(const RecordedSteps& recorded) {
  StepGraph graph = build_step_graph(recorded);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node)
    for (const GraphEdge& edge : graph.edges_to(node)) EXPECT_LT(edge.from, node);
  for (std::size_t step = 0; step < graph.steps.size() + 1; ++step) {
    const CriticalPath path = critical_path(graph, step);
    std::uint64_t at = path.start_ns;
    for (const PathPiece& piece : path.pieces) {
      EXPECT_EQ(piece.start_ns, at);
      EXPECT_GT(piece.end_ns, piece.start_ns);
      at = piece.end_ns;
    }
    EXPECT_EQ(at, path.end_ns);
    EXPECT_EQ(path.explained().has_value(), path.end_ns > path.start_ns);
    EXPECT_GE(path.explained().value_or(0), 0);
    EXPECT_LE(path.explained().value_or(0), 1);
    const ExposedTime exposed = exposed_time(graph, path.start_ns, path.end_ns);
    EXPECT_EQ(exposed.compute_ns + exposed.communication_ns + exposed.copies_ns + exposed.idle_ns,
              path.end_ns - path.start_ns);
    const auto has_border = [&](std::size_t of) {
      return of < graph.steps.size() && graph.steps[of].border != kNoIndex;
    };
    const auto replay = StepReplay::of(graph, step);
    EXPECT_EQ(replay.has_value(), step > 0 && has_border(step));
    if (!replay) continue;
    Change change = replay->without({.communication = true, .copies = true, .host_gaps = true});
    change.length_ns.resize(recorded.operations.size() / 2, 7);
    const SavingRange saving = replay->saving(change);
    EXPECT_GE(saving.low_ns, 0);
    EXPECT_LE(saving.low_ns, saving.high_ns);
    EXPECT_LE(saving.high_ns, replay->base().step_ns);
    EXPECT_TRUE(std::isfinite(replay->replay_error().value_or(0)));
    EXPECT_EQ(replay->replay_error().has_value(),
              has_border(step + 1) && path.end_ns > path.start_ns);
  }
  return graph;
}

std::uint64_t draw_time(Draw& draw) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  switch (draw.below(4)) {
    case 0:
      return kMost - draw.below(3);
    case 1:
      return draw.below(3);
    case 2:
      return kMost / 2 + draw.next() % 1000;
    default:
      return draw.next();
  }
}

void damage(RecordedSteps& recorded, Draw& draw) {
  const auto any = [&](auto& row) -> auto& {
    return row[draw.below(static_cast<std::uint32_t>(row.size()))];
  };
  for (std::uint32_t changes = 1 + draw.below(8); changes > 0; --changes) {
    if (recorded.calls.size() < 2 || recorded.operations.empty()) return;
    switch (draw.below(14)) {
      case 0:
        any(recorded.operations).start_ns = draw_time(draw);
        break;
      case 1:
        any(recorded.operations).end_ns = draw_time(draw);
        break;
      case 2:
        any(recorded.calls).enter_ns = draw_time(draw);
        break;
      case 3:
        any(recorded.calls).exit_ns = draw_time(draw);
        break;
      case 4:
        any(recorded.operations).correlation = any(recorded.calls).correlation;
        break;
      case 5:
        recorded.operations.erase(
            recorded.operations.begin() +
            draw.below(static_cast<std::uint32_t>(recorded.operations.size())));
        break;
      case 6:
        recorded.calls.erase(recorded.calls.begin() +
                             draw.below(static_cast<std::uint32_t>(recorded.calls.size())));
        break;
      case 7:
        std::swap(any(recorded.calls), any(recorded.calls));
        break;
      case 8:
        any(recorded.calls).kind = static_cast<RecordedCallKind>(draw.below(12));
        break;
      case 9:
        any(recorded.calls).thread = draw.below(5);
        break;
      case 10:
        any(recorded.borders) = draw.below(static_cast<std::uint32_t>(recorded.calls.size() * 2));
        break;
      case 11:
        recorded.handoffs.push_back({draw.below(200), draw.below(200)});
        break;
      case 12:
        recorded.queue_full.push_back(
            {draw_time(draw), draw_time(draw), any(recorded.calls).correlation});
        break;
      default:
        any(recorded.calls).graph = draw.below(4);
        any(recorded.calls).programmatic = true;
        if (!recorded.graphs.empty())
          recorded.graphs[0].edges.push_back({draw.below(20), draw.below(20)});
    }
  }
}

TEST(DamagedRecords, NeverCrashAndPiecesStillTile) {
  for (std::uint32_t seed = 0; seed < made_up::programs(); ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    RecordedSteps recorded = made_up::recorded(made_up::make_program(seed)).recorded;
    Draw draw(seed + 4000000);
    damage(recorded, draw);
    ask_everything(recorded);
    if (HasFailure()) return;
  }
  ask_everything({});
}

TEST(DamagedRecords, TimesDoNotWrap) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(ns_sum(kMost - 3, 5), kMost);
  EXPECT_EQ(ns_sum(3, 5), 8u);
  EXPECT_EQ(ns_between(5, 3), 0u);
}

// The share of the middle steps' time that the graph explains, and of edges that are violated.
struct Quality {
  double explained = 0;
  std::uint32_t violated = 0, unknown_times = 0, steps = 0;
  void add(const StepGraph& graph) {
    explained += critical_path(graph, kStep).explained().value_or(0);
    violated += gable::violated(graph);
    unknown_times += graph.refused.unknown_times;
    ++steps;
  }
};

template <typename Change>
Quality quality_after(const Change& change) {
  Quality quality;
  for (std::uint32_t seed = 0; seed < made_up::programs(); ++seed) {
    Draw draw(seed + 5000000);
    RecordedSteps recorded = made_up::recorded(made_up::make_program(seed)).recorded;
    change(recorded, draw);
    quality.add(ask_everything(recorded));
  }
  quality.explained /= quality.steps;
  return quality;
}

TEST(DamagedRecords, QualitySaysSo) {
  const Quality whole = quality_after([](RecordedSteps&, Draw&) {});
  EXPECT_GT(whole.explained, 0.97);
  EXPECT_EQ(whole.violated, 0u);

  // Clocks that differ by up to 10 us from record to record.
  const Quality jitter = quality_after([](RecordedSteps& recorded, Draw& draw) {
    for (RecordedOperation& operation : recorded.operations) {
      const std::uint64_t later = draw.below(10000);
      operation.start_ns += later;
      operation.end_ns += later;
    }
  });
  EXPECT_LT(jitter.explained, whole.explained);
  EXPECT_GT(jitter.violated, made_up::programs());

  // Who knows how much the clocks differ says so.
  RecordedSteps late = made_up::recorded(made_up::make_program(1)).recorded;
  for (std::size_t i = 0; i < late.operations.size(); i += 2) {
    late.operations[i].start_ns += 10000;
    late.operations[i].end_ns += 10000;
  }
  EXPECT_GT(violated(build_step_graph(late)), 0u);
  EXPECT_EQ(violated(build_step_graph(late, {20000})), 0u);

  // A GPU whose clock is late: operations begin before their launch.
  const Quality offset = quality_after([](RecordedSteps& recorded, Draw&) {
    for (RecordedCall& call : recorded.calls) {
      call.enter_ns += 30000;
      call.exit_ns += 30000;
    }
  });
  EXPECT_GT(offset.violated, made_up::programs());

  // Records that were lost leave holes that nothing explains.
  const Quality lost = quality_after([](RecordedSteps& recorded, Draw& draw) {
    std::erase_if(recorded.operations, [&](const auto&) { return draw.chance(20); });
  });
  EXPECT_LT(lost.explained, whole.explained - 0.02);

  // One in a hundred without times.
  const Quality zeros = quality_after([](RecordedSteps& recorded, Draw& draw) {
    for (RecordedOperation& operation : recorded.operations)
      if (draw.chance(1)) operation.start_ns = operation.end_ns = 0;
  });
  EXPECT_GT(zeros.unknown_times, made_up::programs() / 5);
  EXPECT_LT(zeros.explained, whole.explained);

  // Event records that nobody saw: the waits for them explain nothing.
  const Quality events = quality_after([](RecordedSteps& recorded, Draw&) {
    for (RecordedCall& call : recorded.calls)
      if (call.kind == RecordedCallKind::event_record) call.event = 0;
  });
  EXPECT_LT(events.explained, whole.explained);
}

}  // namespace
}  // namespace gable

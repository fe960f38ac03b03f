// SPDX-License-Identifier: Apache-2.0
// The graph and its path, on made-up programs that an executor of its own has run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "analysis/step_graph/critical_path.h"
#include "analysis/step_graph/exposed.h"
#include "analysis/step_graph/graph_builder.h"
#include "analysis/step_graph/step_replay.h"
#include "tests/unit/analysis/step_graph/made_up_graphs.h"

namespace gable {
namespace {

using made_up::Draw;
using made_up::Entity;
using made_up::Execution;
using made_up::kFirst;
using made_up::kStep;
using made_up::kWindow;
using made_up::Program;

// Of a node: the executor's name for it.
std::vector<Entity> entities(const RecordedSteps& recorded, const StepGraph& graph) {
  std::vector<Entity> result;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const Entity call = Entity{recorded.calls[node.call].correlation - 1} * made_up::kParts;
    std::uint32_t part = made_up::kWork;
    const bool first = i == 0 || graph.nodes[i - 1].call != node.call;
    if (is_host(node.kind)) {
      part = first ? made_up::kIssue : made_up::kReturn;
    } else if (node.flags & kPdlHead) {
      part = made_up::kHead;
    } else if (node.kind == NodeClass::marker && (node.flags & kInGraph)) {
      part = is_host(graph.nodes[i - 1].kind) ? made_up::kHead : made_up::kWork;
    } else if (node.flags & kInGraph) {
      part = made_up::kNodes +
             static_cast<std::uint32_t>(recorded.operations[node.operation].graph_node - 1);
    }
    result.push_back(call + part);
  }
  return result;
}

using Pairs = std::set<std::pair<Entity, Entity>>;

// All pairs of which the first must be over before the second, at whatever distance.
Pairs closure(const std::vector<std::pair<Entity, Entity>>& direct) {
  std::map<Entity, std::set<Entity>> after, reached;
  for (const auto& [from, to] : direct) after[from].insert(to);
  Pairs result;
  // From the last to the first: calls come in the order of time, and so do most parts.
  const std::function<const std::set<Entity>&(Entity)> from = [&](Entity entity) -> const auto& {
    const auto [found, added] = reached.try_emplace(entity);
    if (!added) return found->second;
    std::set<Entity> all;
    for (const Entity next : after[entity]) {
      all.insert(next);
      const auto& further = from(next);
      all.insert(further.begin(), further.end());
    }
    return reached[entity] = std::move(all);
  };
  std::vector<Entity> begins;
  begins.reserve(after.size());
  for (const auto& [entity, next] : after) begins.push_back(entity);
  for (const Entity entity : begins)
    for (const Entity to : from(entity)) result.emplace(entity, to);
  return result;
}

Pairs differences(const Pairs& a, const Pairs& b) {
  Pairs result;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(),
                                std::inserter(result, result.end()));
  return result;
}

TEST(StepGraphProperties, EdgesAreTheExecutorsAndExplainEveryStart) {
  std::uint64_t pairs = 0;
  std::uint32_t unknown = 0;
  for (std::uint32_t seed = 0; seed < made_up::programs(); ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    const Program program = made_up::make_program(seed);
    const Execution execution = made_up::recorded(program);
    const StepGraph graph = build_step_graph(execution.recorded);
    ASSERT_EQ(graph.steps.size(), kWindow);
    EXPECT_EQ(graph.refused, RefusedInput{});
    for (std::size_t kind = 0; kind < kEdgeKinds; ++kind)
      EXPECT_EQ(graph.violated[kind], 0u) << "edges of kind " << kind;
    // Where nothing was ever idle, the latency of a launch cannot be known.
    if (!graph.latency_known) ++unknown;
    for (auto i = graph.steps[kStep].first_node; graph.latency_known && i < graph.nodes.size(); ++i)
      ASSERT_EQ(graph.nodes[i].residual_ns, 0u) << "node " << i;

    const auto names = entities(execution.recorded, graph);
    const Entity from_step = Entity{(kFirst + kStep - 1) * program.step.size()} * made_up::kParts;
    std::vector<std::pair<Entity, Entity>> ours, theirs;
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
      for (const GraphEdge& edge : graph.edges_to(i))
        if (edge.kind != EdgeKind::queue_full && edge.kind != EdgeKind::pdl_start &&
            names[edge.from] >= from_step && names[i] >= from_step)
          ours.emplace_back(names[edge.from], names[i]);
    for (const auto& pair : execution.depends)
      if (pair.first >= from_step && pair.second >= from_step) theirs.push_back(pair);
    const Pairs all = closure(theirs);
    for (const auto& [from, to] : differences(closure(ours), all))
      ADD_FAILURE() << from << " before " << to << ", says one of the two";
    pairs += all.size();
    if (HasFailure()) return;
  }
  std::printf("edges: %u programs, %llu pairs, %u without a known latency\n", made_up::programs(),
              static_cast<unsigned long long>(pairs), unknown);
  EXPECT_LT(unknown, made_up::programs() / 5);
}

void expect_tiles(const CriticalPath& path) {
  std::uint64_t at = path.start_ns, unexplained = 0;
  for (const PathPiece& piece : path.pieces) {
    ASSERT_EQ(piece.start_ns, at);
    ASSERT_GT(piece.end_ns, piece.start_ns);
    at = piece.end_ns;
    if (piece.kind == PieceKind::unexplained) unexplained += piece.end_ns - piece.start_ns;
  }
  EXPECT_EQ(at, path.end_ns);
  EXPECT_EQ(unexplained, path.unexplained_ns);
}

bool is_own_time(PieceKind kind) { return kind <= PieceKind::wake_up; }

TEST(StepGraphProperties, PiecesTileTheStepEachWithinItsOperation) {
  for (std::uint32_t seed = 0; seed < made_up::programs(); ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    const Program program = made_up::make_program(seed);
    const Execution execution = made_up::recorded(program);
    const StepGraph graph = build_step_graph(execution.recorded);
    const CriticalPath path = critical_path(graph, kStep);
    ASSERT_GT(path.end_ns, path.start_ns);
    expect_tiles(path);
    for (const PathPiece& piece : path.pieces) {
      if (!is_own_time(piece.kind)) continue;
      EXPECT_GE(piece.start_ns, graph.nodes[piece.node].start_ns);
      EXPECT_LE(piece.end_ns, graph.nodes[piece.node].end_ns);
    }
    // All that the step waited for was recorded.
    if (graph.latency_known && graph.gap_known) {
      EXPECT_EQ(path.unexplained_ns, 0u);
    }
    const ExposedTime exposed = exposed_time(graph, path.start_ns, path.end_ns);
    EXPECT_EQ(exposed.compute_ns + exposed.communication_ns + exposed.copies_ns + exposed.idle_ns,
              path.end_ns - path.start_ns);
    if (HasFailure()) return;
  }
}

// The same steps told in another way: other names, records in another order, times three times as
// long and later.
RecordedSteps told_otherwise(RecordedSteps recorded, Draw& draw) {
  const auto time = [](std::uint64_t ns) { return 1000000007 + 3 * ns; };
  for (RecordedCall& call : recorded.calls) {
    call.enter_ns = time(call.enter_ns);
    call.exit_ns = time(call.exit_ns);
    call.stream = call.stream * 31 + 5;
    call.event = call.event == 0 ? 0 : call.event * 7 + 1;
    call.exec += 99;
    call.thread = 5000 - call.thread;
    call.context += 3;
    call.correlation = call.correlation * 2 + 17;
  }
  for (RecordedOperation& operation : recorded.operations) {
    operation.start_ns = time(operation.start_ns);
    operation.end_ns = time(operation.end_ns);
    operation.correlation = operation.correlation * 2 + 17;
    operation.key = operation.key * 13 + 1;
  }
  for (RecordedStream& stream : recorded.streams) {
    stream.stream = stream.stream * 31 + 5;
    stream.context += 3;
  }
  for (QueueFull& full : recorded.queue_full) {
    full.start_ns = time(full.start_ns);
    full.end_ns = time(full.end_ns);
    full.correlation = full.correlation * 2 + 17;
  }
  const auto shuffle = [&](auto& row) {
    for (std::size_t i = row.size(); i > 1; --i)
      std::swap(row[i - 1], row[draw.below(static_cast<std::uint32_t>(i))]);
  };
  shuffle(recorded.operations);
  shuffle(recorded.streams);
  shuffle(recorded.queue_full);
  shuffle(recorded.handoffs);
  return recorded;
}

TEST(StepGraphProperties, NamesOrderOfRecordsAndScaleDoNotMatter) {
  for (std::uint32_t seed = 0; seed < made_up::programs(); ++seed) {
    SCOPED_TRACE("program " + std::to_string(seed));
    Draw draw(seed + 3000000);
    const Execution execution = made_up::recorded(made_up::make_program(seed));
    const StepGraph one = build_step_graph(execution.recorded);
    const StepGraph other = build_step_graph(told_otherwise(execution.recorded, draw));
    const CriticalPath path = critical_path(one, kStep), again = critical_path(other, kStep);
    EXPECT_EQ(one.queue_depth, other.queue_depth);
    EXPECT_EQ(one.violated, other.violated);
    ASSERT_EQ(path.pieces.size(), again.pieces.size());
    EXPECT_EQ(again.unexplained_ns, 3 * path.unexplained_ns);
    for (std::size_t i = 0; i < path.pieces.size(); ++i) {
      EXPECT_EQ(again.pieces[i].kind, path.pieces[i].kind);
      EXPECT_EQ(again.pieces[i].node, path.pieces[i].node);
      EXPECT_EQ(again.pieces[i].start_ns, 1000000007 + 3 * path.pieces[i].start_ns);
    }
    const ExposedTime exposed = exposed_time(one, path.start_ns, path.end_ns);
    const ExposedTime scaled = exposed_time(other, again.start_ns, again.end_ns);
    EXPECT_EQ(scaled.compute_ns, 3 * exposed.compute_ns);
    EXPECT_EQ(scaled.communication_ns, 3 * exposed.communication_ns);
    EXPECT_EQ(scaled.copies_ns, 3 * exposed.copies_ns);
    EXPECT_EQ(scaled.idle_ns, 3 * exposed.idle_ns);
    const StepReplay replay = StepReplay::of(one, kStep).value();
    const StepReplay scaled_replay = StepReplay::of(other, kStep).value();
    EXPECT_DOUBLE_EQ(scaled_replay.base().step_ns, 3 * replay.base().step_ns);
    const double saving =
        replay.saving(replay.without({.communication = true, .copies = true})).high_ns;
    EXPECT_NEAR(scaled_replay.saving(scaled_replay.without({.communication = true, .copies = true}))
                    .high_ns,
                3 * saving, 1e-9 * replay.base().step_ns);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace gable

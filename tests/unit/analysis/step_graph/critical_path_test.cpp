// SPDX-License-Identifier: Apache-2.0
// What each part of a path is called, on graphs made by hand: a border, one node, the next border.
#include "analysis/step_graph/critical_path.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace gable {
namespace {

struct Edge {
  std::uint32_t from, to;
  EdgeKind kind;
  std::uint64_t lag_ns;
};

GraphNode node(NodeClass kind, std::uint64_t start_ns, std::uint64_t end_ns,
               std::uint16_t resource = 0) {
  GraphNode made;
  made.kind = kind;
  made.start_ns = start_ns;
  made.end_ns = end_ns;
  made.resource = resource;
  return made;
}

// Its first and its last node are the borders.
StepGraph graph_of(const std::vector<GraphNode>& nodes, const std::vector<Edge>& edges) {
  StepGraph graph;
  graph.nodes = nodes;
  for (std::uint32_t to = 0; to < nodes.size(); ++to) {
    graph.nodes[to].first_edge = static_cast<std::uint32_t>(graph.edges.size());
    for (const Edge& edge : edges)
      if (edge.to == to) graph.edges.push_back({edge.lag_ns, edge.from, edge.kind});
  }
  const auto last = static_cast<std::uint32_t>(nodes.size() - 1);
  graph.steps = {{0, last, 0}, {last, last + 1, last}};
  return graph;
}

const char* name_of(PieceKind kind) {
  static constexpr const char* kNames[] = {
      "kernel",   "collective", "copy", "memset",    "host_function", "host_call",  "wake_up",
      "host_gap", "latency",    "gap",  "graph_gap", "overlap",       "queue_full", "unexplained"};
  return kNames[static_cast<std::size_t>(kind)];
}

// "100 kernel 200 gap 300"
std::string shown(const CriticalPath& path) {
  std::string text;
  for (const PathPiece& piece : path.pieces)
    text += std::to_string(piece.start_ns) + " " + name_of(piece.kind) + " ";
  return text + std::to_string(path.end_ns);
}

StepGraph three(NodeClass middle, EdgeKind after, std::uint64_t lag_ns, std::uint8_t flags = 0,
                NodeClass first = NodeClass::kernel) {
  auto graph =
      graph_of({node(first, 100, 200), node(middle, 300, 400), node(NodeClass::kernel, 500, 600)},
               {{0, 1, EdgeKind::stream_order, 100}, {1, 2, after, lag_ns}});
  graph.nodes[1].flags = flags;
  return graph;
}

TEST(CriticalPath, AHoleIsCalledByWhatTheNextNodeWaitedFor) {
  struct Hole {
    EdgeKind edge;
    const char* name;
  };
  for (const auto& [edge, name] :
       {Hole{EdgeKind::program_order, "host_gap"}, Hole{EdgeKind::handoff, "host_gap"},
        Hole{EdgeKind::graph_inner, "graph_gap"}, Hole{EdgeKind::pdl_end, "overlap"},
        Hole{EdgeKind::host_wait, "wake_up"}, Hole{EdgeKind::stream_order, "gap"},
        Hole{EdgeKind::event_wait, "gap"}, Hole{EdgeKind::legacy_stream, "gap"},
        Hole{EdgeKind::graph_order, "gap"}}) {
    const auto path = critical_path(three(NodeClass::kernel, edge, 60), 0);
    EXPECT_EQ(shown(path),
              std::string("100 kernel 200 gap 300 kernel 400 ") + name + " 460 unexplained 500");
    EXPECT_EQ(path.unexplained_ns, 40u);
    EXPECT_DOUBLE_EQ(path.explained().value(), 0.9);
  }
  for (const auto& [edge, name] :
       {Hole{EdgeKind::launch, "latency"}, Hole{EdgeKind::pdl_start, "overlap"},
        Hole{EdgeKind::queue_full, "queue_full"}}) {
    const auto path = critical_path(three(NodeClass::kernel, edge, 60), 0);
    EXPECT_EQ(shown(path), std::string("100 kernel 200 gap 300 ") + name + " 360 unexplained 500")
        << "from the start of the node before";
    EXPECT_EQ(path.unexplained_ns, 140u);
  }
}

TEST(CriticalPath, ANodesTimeIsCalledByWhatItIs) {
  struct Node {
    NodeClass node;
    std::uint8_t flags;
    const char* name;
  };
  for (const auto& [each, flags, name] :
       {Node{NodeClass::kernel, 0, "kernel"}, Node{NodeClass::collective, 0, "collective"},
        Node{NodeClass::copy, 0, "copy"}, Node{NodeClass::memset, 0, "memset"},
        Node{NodeClass::host_function, 0, "host_function"},
        Node{NodeClass::host_call, 0, "host_call"}, Node{NodeClass::host_wait, 0, "wake_up"},
        Node{NodeClass::host_wait, kStages, "host_call"},
        Node{NodeClass::marker, 0, "unexplained"}}) {
    const auto path = critical_path(three(each, EdgeKind::stream_order, 100, flags), 0);
    EXPECT_EQ(shown(path), std::string("100 kernel 200 gap 300 ") + name + " 400 gap 500");
  }
  EXPECT_EQ(
      shown(critical_path(
          three(NodeClass::host_wait, EdgeKind::stream_order, 100, 0, NodeClass::host_call), 0)),
      "100 host_call 200 gap 300 host_call 400 gap 500")
      << "it waited for a call, not for the GPU";
}

TEST(CriticalPath, ANodeThatBeganBeforeWhatItWaitedForOwnsWhatIsLeft) {
  const auto graph =
      graph_of({node(NodeClass::kernel, 100, 400), node(NodeClass::host_call, 300, 500),
                node(NodeClass::kernel, 500, 600)},
               {{0, 1, EdgeKind::host_wait, 0}, {1, 2, EdgeKind::program_order, 0}});
  EXPECT_EQ(shown(critical_path(graph, 0)), "100 kernel 400 host_call 500");
}

TEST(CriticalPath, WhatNothingLedToIsUnexplained) {
  const auto graph = graph_of({node(NodeClass::kernel, 100, 200), node(NodeClass::copy, 300, 450),
                               node(NodeClass::kernel, 500, 600)},
                              {{1, 2, EdgeKind::stream_order, 50}});
  const auto path = critical_path(graph, 0);
  EXPECT_EQ(shown(path), "100 unexplained 300 copy 450 gap 500");
  EXPECT_EQ(path.unexplained_ns, 200u);
  EXPECT_DOUBLE_EQ(path.explained().value(), 0.5);
}

TEST(CriticalPath, EndsWhereTheStepBegan) {
  const auto graph =
      graph_of({node(NodeClass::kernel, 100, 150), node(NodeClass::host_call, 50, 450),
                node(NodeClass::kernel, 500, 600)},
               {{1, 2, EdgeKind::program_order, 50}});
  EXPECT_EQ(shown(critical_path(graph, 0)), "100 host_call 450 host_gap 500");
}

TEST(CriticalPath, FollowsTheLatestAndOfEqualOnesItsOwnResource) {
  const auto path_with = [](std::uint64_t first_end, std::uint16_t first, std::uint64_t second_end,
                            std::uint16_t second) {
    return shown(critical_path(
        graph_of({node(NodeClass::kernel, 100, 200), node(NodeClass::copy, 200, first_end, first),
                  node(NodeClass::memset, 200, second_end, second),
                  node(NodeClass::kernel, 500, 600, 7)},
                 {{0, 1, EdgeKind::stream_order, 0},
                  {0, 2, EdgeKind::stream_order, 0},
                  {1, 3, EdgeKind::stream_order, 0},
                  {2, 3, EdgeKind::stream_order, 0}}),
        0));
  };
  EXPECT_EQ(path_with(500, 1, 499, 7), "100 kernel 200 copy 500");
  EXPECT_EQ(path_with(499, 7, 500, 1), "100 kernel 200 memset 500");
  EXPECT_EQ(path_with(500, 7, 500, 1), "100 kernel 200 copy 500");
  EXPECT_EQ(path_with(500, 1, 500, 7), "100 kernel 200 memset 500");
  EXPECT_EQ(path_with(500, 1, 500, 2), "100 kernel 200 memset 500") << "the later call";
}

TEST(CriticalPath, IsOfAStepBetweenTwoBorders) {
  auto graph = three(NodeClass::kernel, EdgeKind::stream_order, 100);
  EXPECT_TRUE(critical_path(graph, 1).pieces.empty()) << "nothing comes after it";
  EXPECT_FALSE(critical_path(graph, 1).explained());
  EXPECT_TRUE(critical_path(graph, 2).pieces.empty());
  auto without = graph;
  without.steps[0].border = kNoIndex;
  EXPECT_TRUE(critical_path(without, 0).pieces.empty());
  without = graph;
  without.steps[1].border = kNoIndex;
  EXPECT_TRUE(critical_path(without, 0).pieces.empty());
  graph.nodes[2].start_ns = 100;
  EXPECT_FALSE(critical_path(graph, 0).explained()) << "it has no length";
  graph.nodes[2].start_ns = 50;
  EXPECT_EQ(critical_path(graph, 0).end_ns, 100u) << "nor a negative one";
}

TEST(StepGraph, TimesStopAtTheirBorders) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(ns_sum(2, 3), 5u);
  EXPECT_EQ(ns_sum(kMost - 1, 1), kMost);
  EXPECT_EQ(ns_sum(kMost, 1), kMost);
  EXPECT_EQ(ns_sum(kMost - 1, 5), kMost);
  EXPECT_EQ(ns_between(2, 5), 3u);
  EXPECT_EQ(ns_between(5, 5), 0u);
  EXPECT_EQ(ns_between(5, 2), 0u);
}

TEST(StepGraph, AKernelThatNeedNotTriggerTheNextAllowsItAtItsEnd) {
  auto graph = three(NodeClass::kernel, EdgeKind::pdl_start, 60);
  EXPECT_EQ(graph.arrival_ns(graph.edges[1]), 360u);
  graph.edges[1].lag_ns = 100;
  EXPECT_EQ(graph.arrival_ns(graph.edges[1]), 400u);
  graph.edges[1].lag_ns = 150;
  EXPECT_EQ(graph.arrival_ns(graph.edges[1]), 400u);
  EXPECT_EQ(graph.latest_arrival_ns(2), 400u);
  EXPECT_EQ(graph.latest_arrival_ns(0), 0u);
}

TEST(StepGraph, TheStartOfASplitKernelIsItsHeads) {
  auto graph = three(NodeClass::kernel, EdgeKind::launch, 0, kPdlBody);
  EXPECT_EQ(graph.leaves(graph.edges[1]), 0u);
  EXPECT_EQ(graph.point_ns(graph.edges[1]), 100u);
  graph.edges[1].kind = EdgeKind::stream_order;
  EXPECT_EQ(graph.leaves(graph.edges[1]), 1u);
  EXPECT_EQ(graph.point_ns(graph.edges[1]), 400u);
  graph.edges[1].kind = EdgeKind::launch;
  graph.nodes[1].flags = kPdlHead;
  EXPECT_EQ(graph.leaves(graph.edges[1]), 1u);
  EXPECT_EQ(graph.point_ns(graph.edges[1]), 300u);
}

TEST(StepGraph, AnEdgesInputIsFound) {
  auto graph = three(NodeClass::kernel, EdgeKind::stream_order, 100);
  EXPECT_EQ(graph.input_ns(graph.edges[1]), 0u);
  graph.inputs = {{0, 7}, {2, 9}};
  EXPECT_EQ(graph.input_ns(graph.edges[0]), 7u);
  EXPECT_EQ(graph.input_ns(graph.edges[1]), 0u);
}

TEST(StepGraph, OperationsAndCallsAreToldApart) {
  for (const auto kind : {NodeClass::kernel, NodeClass::collective, NodeClass::copy,
                          NodeClass::memset, NodeClass::host_function}) {
    EXPECT_TRUE(is_operation(kind));
    EXPECT_FALSE(is_host(kind));
  }
  EXPECT_FALSE(is_operation(NodeClass::marker) || is_host(NodeClass::marker));
  for (const auto kind : {NodeClass::host_call, NodeClass::host_wait}) {
    EXPECT_FALSE(is_operation(kind));
    EXPECT_TRUE(is_host(kind));
  }
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The graph of recorded steps: what ran, on which thread or stream, and what each waited for.
// Nodes are in the order of the calls, and every edge comes from an earlier node, so a walk over
// the indices is a walk in topological order. docs/step-graph.md explains it.
//
// A launch makes two nodes of 40 bytes and about three edges of 16: 20,000 launches take 2.6 MB.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace gable {

inline constexpr std::uint32_t kNoIndex = std::numeric_limits<std::uint32_t>::max();

// Times of damaged records may be anything: sums stop at the largest number, differences at 0.
[[nodiscard]] constexpr std::uint64_t ns_sum(std::uint64_t a, std::uint64_t b) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  return a > kMost - b ? kMost : a + b;
}
[[nodiscard]] constexpr std::uint64_t ns_between(std::uint64_t from, std::uint64_t to) {
  return to > from ? to - from : 0;
}

enum class NodeClass : std::uint8_t {
  kernel,
  collective,
  copy,
  memset,
  host_function,
  marker,     // no length: event records, stream waits, both ends of a graph launch
  host_call,  // from ENTER, or from when the launch queue had room, to EXIT
  host_wait,  // from the later of ENTER and what it waited for, to EXIT: the wake-up, or staging
};
[[nodiscard]] constexpr bool is_operation(NodeClass node) { return node < NodeClass::marker; }
[[nodiscard]] constexpr bool is_host(NodeClass node) { return node >= NodeClass::host_call; }

enum NodeFlag : std::uint8_t {
  kTimeUnknown = 1,  // no record, or one without times: length 0 as soon as its edges allow
  kInGraph = 2,
  kPdlHead = 4,  // the start of a kernel that may begin before its predecessor ends; no length
  kPdlBody = 8,  // the node after its head: the part after the predecessor's end
  kStages = 16,  // a wait after which the call itself copies to staging memory until it returns
};

struct GraphNode {
  std::uint64_t start_ns = 0, end_ns = 0;  // as measured; markers: as early as edges allow
  std::uint64_t residual_ns = 0;           // start - latest arrival: time that no edge explains
  std::uint32_t first_edge = 0;            // see StepGraph::edges_to
  std::uint32_t call = 0;                  // index in RecordedSteps::calls
  std::uint32_t operation = kNoIndex;      // index in RecordedSteps::operations
  std::uint16_t resource = 0;              // a thread or a stream, see StepGraph::threads
  NodeClass kind = NodeClass::marker;
  std::uint8_t flags = 0;
};

// Kinds of edges and their lags.
enum class EdgeKind : std::uint8_t {
  program_order,  // a call after the call before it on its thread; lag: the host's time between
  handoff,        // a call after one on another thread; lag: as program_order
  launch,         // from the START of a call; lag: the launch latency of its thread and kind
  stream_order,   // lag: the gap between operations of a stream
  event_wait,     // a stream wait after the record; no lag
  legacy_stream,  // between the legacy stream and a blocking one; lag: as stream_order
  graph_order,    // a graph launch after the launch before it of the same instance
  graph_inner,    // lag: the gap between operations of a graph
  pdl_start,      // from the START of the kernel before; lag: the least seen of this key
  pdl_end,        // the part of a kernel that waits for the end of the kernel before; no lag
  host_wait,      // a host's wait after the operation; no lag
  queue_full,     // from the START of the operation that left the launch queue; no lag
};
inline constexpr std::size_t kEdgeKinds = 12;

struct GraphEdge {
  std::uint64_t lag_ns = 0;
  std::uint32_t from = 0;
  EdgeKind kind = EdgeKind::program_order;
};
[[nodiscard]] constexpr bool is_from_start(EdgeKind kind) {
  return kind == EdgeKind::launch || kind == EdgeKind::pdl_start || kind == EdgeKind::queue_full;
}

// Counts of contradictory input that was left out.
struct RefusedInput {
  std::uint32_t calls = 0;       // calls that end before they begin
  std::uint32_t operations = 0;  // operations that end before they begin, or a launch's second one
  std::uint32_t unlaunched = 0;  // operations without a launching call: not in the graph
  std::uint32_t unknown_times = 0;
  std::uint32_t edges = 0;  // edges of graphs and handoffs that point backwards or nowhere
  std::uint32_t steps = 0;  // borders out of order
  friend bool operator==(const RefusedInput&, const RefusedInput&) = default;
};

// The part of an edge's lag in which the program fetched its next input.
struct EdgeInput {
  std::uint32_t edge = 0;  // index in StepGraph::edges
  std::uint64_t input_ns = 0;
};

struct StepGraph {
  // A step lies between the starts of its border and of the next step's. The border is the first
  // operation that was launched in the step, on the stream with most kernel time.
  struct Step {
    std::uint32_t first_node = 0, end_node = 0;
    std::uint32_t border = kNoIndex;  // a node
  };

  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;   // by the node they lead to
  std::vector<EdgeInput> inputs;  // by edge; 0 for edges not listed
  std::vector<Step> steps;
  std::uint16_t threads = 0;      // resources below are threads, the others streams
  std::uint32_t queue_depth = 0;  // entries of a stream that may wait; 0: never seen full
  bool latency_known = false;     // false: no operation found an idle stream, its lag is 0
  bool gap_known = false;         // false: no operation waited for its stream alone
  std::array<std::uint32_t, kEdgeKinds> violated{};  // edges whose slack is below -jitter
  RefusedInput refused;

  [[nodiscard]] std::uint64_t input_ns(const GraphEdge& edge) const {
    const auto index = static_cast<std::uint32_t>(&edge - edges.data());
    const auto found = std::lower_bound(
        inputs.begin(), inputs.end(), index,
        [](const EdgeInput& input, std::uint32_t other) { return input.edge < other; });
    return found != inputs.end() && found->edge == index ? found->input_ns : 0;
  }
  [[nodiscard]] std::span<const GraphEdge> edges_to(std::size_t node) const {
    const std::size_t end = node + 1 < nodes.size() ? nodes[node + 1].first_edge : edges.size();
    return std::span(edges).subspan(nodes[node].first_edge, end - nodes[node].first_edge);
  }
  // The node whose start or end the edge leaves; for the start of a split kernel, its head.
  [[nodiscard]] std::uint32_t leaves(const GraphEdge& edge) const {
    const bool head = is_from_start(edge.kind) && (nodes[edge.from].flags & kPdlBody) != 0;
    return head ? edge.from - 1 : edge.from;
  }
  [[nodiscard]] std::uint64_t point_ns(const GraphEdge& edge) const {
    const GraphNode& from = nodes[leaves(edge)];
    return is_from_start(edge.kind) ? from.start_ns : from.end_ns;
  }
  // The earliest time that the edge allows. A kernel need not trigger the next: its end does.
  [[nodiscard]] std::uint64_t arrival_ns(const GraphEdge& edge) const {
    const std::uint64_t arrival = ns_sum(point_ns(edge), edge.lag_ns);
    if (edge.kind != EdgeKind::pdl_start) return arrival;
    return arrival < nodes[edge.from].end_ns ? arrival : nodes[edge.from].end_ns;
  }
  [[nodiscard]] std::uint64_t latest_arrival_ns(std::size_t node) const {
    std::uint64_t latest = 0;
    for (const GraphEdge& edge : edges_to(node))
      if (const auto arrival = arrival_ns(edge); arrival > latest) latest = arrival;
    return latest;
  }
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_graph/critical_path.h"

#include <algorithm>
#include <tuple>

namespace gable {
namespace {

PieceKind own_kind(const StepGraph& graph, const GraphNode& node, const GraphEdge* latest) {
  switch (node.kind) {
    case NodeClass::kernel:
      return PieceKind::kernel;
    case NodeClass::collective:
      return PieceKind::collective;
    case NodeClass::copy:
      return PieceKind::copy;
    case NodeClass::memset:
      return PieceKind::memset;
    case NodeClass::host_function:
      return PieceKind::host_function;
    case NodeClass::host_wait:
      if ((node.flags & kStages) != 0) return PieceKind::host_call;
      return latest != nullptr && !is_host(graph.nodes[latest->from].kind) ? PieceKind::wake_up
                                                                           : PieceKind::host_call;
    case NodeClass::host_call:
      return PieceKind::host_call;
    case NodeClass::marker:
      break;  // has no length of its own
  }
  return PieceKind::unexplained;
}

PieceKind hole_kind(EdgeKind edge) {
  switch (edge) {
    case EdgeKind::program_order:
    case EdgeKind::handoff:
      return PieceKind::host_gap;
    case EdgeKind::launch:
      return PieceKind::launch_latency;
    case EdgeKind::graph_inner:
      return PieceKind::graph_gap;
    case EdgeKind::pdl_start:
    case EdgeKind::pdl_end:
      return PieceKind::overlap;
    case EdgeKind::queue_full:
      return PieceKind::queue_full;
    case EdgeKind::host_wait:
      return PieceKind::wake_up;
    case EdgeKind::stream_order:
    case EdgeKind::event_wait:
    case EdgeKind::legacy_stream:
    case EdgeKind::graph_order:
      break;
  }
  return PieceKind::stream_gap;
}

class Walk {
 public:
  Walk(const StepGraph& graph, CriticalPath& path) : graph_(graph), path_(path) {}

  void from(std::uint32_t node) {
    cursor_ = path_.end_ns;
    // An edge leads to an earlier node, so this ends.
    while (cursor_ > path_.start_ns) {
      const GraphNode& at = graph_.nodes[node];
      const GraphEdge* const edge = latest(node);
      if (edge == nullptr) {
        take(at.start_ns, node, own_kind(graph_, at, edge));
        take(path_.start_ns, node, PieceKind::unexplained);
        break;
      }
      const std::uint64_t point = graph_.point_ns(*edge);
      take(std::max(at.start_ns, point), node, own_kind(graph_, at, edge));
      take(graph_.arrival_ns(*edge), node, PieceKind::unexplained);
      take(point, node, hole_kind(edge->kind));
      node = graph_.leaves(*edge);
    }
    std::reverse(path_.pieces.begin(), path_.pieces.end());
  }

 private:
  // The edge that allows the node last; of equal ones that of its own resource, then that of the
  // latest call.
  [[nodiscard]] const GraphEdge* latest(std::uint32_t node) const {
    const GraphEdge* found = nullptr;
    const auto rank = [&](const GraphEdge& edge) {
      const bool own = graph_.nodes[edge.from].resource == graph_.nodes[node].resource;
      return std::tuple(graph_.arrival_ns(edge), own, edge.from);
    };
    for (const GraphEdge& edge : graph_.edges_to(node))
      if (found == nullptr || rank(edge) > rank(*found)) found = &edge;
    return found;
  }

  // The time from the cursor down to `until`, no further than the step's beginning.
  void take(std::uint64_t until, std::uint32_t node, PieceKind kind) {
    until = std::max(until, path_.start_ns);
    if (until >= cursor_) return;
    if (kind == PieceKind::unexplained) path_.unexplained_ns += cursor_ - until;
    path_.pieces.push_back({until, cursor_, node, kind});
    cursor_ = until;
  }

  const StepGraph& graph_;
  CriticalPath& path_;
  std::uint64_t cursor_ = 0;
};

}  // namespace

Maybe CriticalPath::explained() const {
  if (end_ns <= start_ns) return std::nullopt;
  return 1 - static_cast<double>(unexplained_ns) / static_cast<double>(end_ns - start_ns);
}

CriticalPath critical_path(const StepGraph& graph, std::size_t step) {
  CriticalPath path;
  if (step + 1 >= graph.steps.size()) return path;
  const std::uint32_t first = graph.steps[step].border, last = graph.steps[step + 1].border;
  if (first == kNoIndex || last == kNoIndex) return path;
  path.start_ns = graph.nodes[first].start_ns;
  path.end_ns = std::max(path.start_ns, graph.nodes[last].start_ns);
  Walk(graph, path).from(last);
  return path;
}

}  // namespace gable

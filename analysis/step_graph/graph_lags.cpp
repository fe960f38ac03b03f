// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_graph/graph_lags.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gable {
namespace {

using Samples = std::vector<std::uint64_t>;

// The 5th percentile.
std::uint64_t least(Samples& samples) {
  const auto place = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 20);
  std::nth_element(samples.begin(), place, samples.end());
  return *place;
}

class Lags {
 public:
  Lags(const RecordedSteps& recorded, StepGraph& graph) : recorded_(recorded), graph_(graph) {}

  void settle(std::uint64_t jitter_ns) {
    derive_times();  // without lags: markers have none of their own
    find_doubtful();
    measure_latencies();
    set_lags(EdgeKind::launch);
    measure_gaps();
    if (latency_.empty()) {  // Nothing was idle, but gaps are known now: who waited longer?
      measure_latencies();
      set_lags(EdgeKind::launch);
      measure_gaps();
    }
    graph_.latency_known = !latency_.empty();
    for (const EdgeKind kind : {EdgeKind::stream_order, EdgeKind::legacy_stream,
                                EdgeKind::graph_order, EdgeKind::graph_inner, EdgeKind::pdl_start})
      set_lags(kind);
    derive_times();
    judge(jitter_ns);
  }

 private:
  [[nodiscard]] const GraphNode& node(std::size_t index) const { return graph_.nodes[index]; }
  [[nodiscard]] bool measured(std::size_t index) const {
    return is_operation(node(index).kind) && (node(index).flags & kTimeUnknown) == 0;
  }
  // Of launches: a thread, a kind of operation, and whether it is a graph's.
  [[nodiscard]] std::uint32_t launch_key(std::size_t index, const GraphEdge& edge) const {
    const bool in_graph = (node(index).flags & kInGraph) != 0;
    const auto kind = in_graph ? 15u : static_cast<unsigned>(node(index).kind);
    return node(edge.from).resource * 16u + kind;
  }

  // Markers of which it is not known when they were ready: what those of the first step waited for
  // may not have been recorded. Of those in the second step that wait for these the same is true;
  // later ones are taken to know better, or rows of markers would stay doubtful for ever.
  void find_doubtful() {
    doubtful_.assign(graph_.nodes.size(), false);
    const std::size_t end =
        graph_.steps.size() > 2 ? graph_.steps[2].first_node : graph_.nodes.size();
    for (std::uint32_t i = 0; i < end; ++i) {
      if (is_host(node(i).kind) || measured(i)) continue;
      const auto edges = graph_.edges_to(i);
      doubtful_[i] = i < first_known() || waits_for_doubtful(edges);
    }
  }
  [[nodiscard]] bool waits_for_doubtful(std::span<const GraphEdge> edges) const {
    return std::any_of(edges.begin(), edges.end(),
                       [&](const GraphEdge& edge) { return doubtful_[edge.from]; });
  }

  // What the first step waited for was not recorded.
  [[nodiscard]] std::uint32_t first_known() const {
    return graph_.steps.size() > 1 ? graph_.steps[1].first_node : 0;
  }

  // What has no time of its own is as early as its edges allow; waits begin with what they wait
  // for, within their call.
  void derive_times() {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      GraphNode& made = graph_.nodes[i];
      const std::uint64_t arrival = graph_.latest_arrival_ns(i);
      if (made.kind == NodeClass::marker || (made.flags & kTimeUnknown)) {
        made.start_ns = made.end_ns = arrival;
      } else if (made.kind == NodeClass::host_wait || (made.flags & kPdlBody)) {
        made.start_ns = std::clamp(arrival, made.start_ns, made.end_ns);
      }
    }
  }

  void measure_latencies() {
    std::uint64_t upper = std::numeric_limits<std::uint64_t>::max();  // no latency is longer
    std::map<std::uint32_t, Samples> samples;
    for (std::uint32_t i = first_known(); i < graph_.nodes.size(); ++i) {
      if (!measured(i) || waits_for_doubtful(graph_.edges_to(i))) continue;
      const GraphEdge* launch = nullptr;
      std::uint64_t ready = 0;
      for (const GraphEdge& edge : graph_.edges_to(i)) {
        if (edge.kind == EdgeKind::launch)
          launch = &edge;
        else
          ready = std::max(ready, node(edge.from).end_ns);
      }
      if (launch == nullptr || node(i).start_ns < graph_.point_ns(*launch)) continue;
      const std::uint64_t entered = graph_.point_ns(*launch);
      upper = std::min(upper, node(i).start_ns - entered);
      const std::uint64_t late = ns_between(ns_sum(ready, stream_gap_), node(i).start_ns);
      const bool idle = ready <= entered || (graph_.gap_known && late > ready - entered);
      if (idle) samples[launch_key(i, *launch)].push_back(node(i).start_ns - entered);
    }
    Samples all;
    for (auto& [key, values] : samples) {
      latency_[key] = least(values);
      all.push_back(latency_[key]);
    }
    // Of kinds that never found an idle stream: as the others, or nothing.
    other_latency_ = all.empty() ? 0 : std::min(least(all), upper);
  }

  void measure_gaps() {
    Samples stream, doubtful, graph;
    std::unordered_map<std::uint32_t, std::uint64_t> pdl;
    for (std::uint32_t i = first_known(); i < graph_.nodes.size(); ++i) {
      if (!measured(i) || waits_for_doubtful(graph_.edges_to(i))) continue;
      const std::uint64_t start = node(i).start_ns;
      std::uint64_t ready = 0, handed_over = 0;
      bool inner = false, any = false;
      for (const GraphEdge& edge : graph_.edges_to(i)) {
        if (edge.kind == EdgeKind::pdl_start) {
          const std::uint64_t lag = ns_between(graph_.point_ns(edge), start);
          const auto [least_lag, added] = pdl_lag_.try_emplace(key_of(i + 1), lag);
          if (!added) least_lag->second = std::min(least_lag->second, lag);
        }
        if (edge.kind == EdgeKind::launch) {
          handed_over = graph_.arrival_ns(edge);
        } else if (edge.kind != EdgeKind::pdl_end && edge.kind != EdgeKind::pdl_start) {
          ready = std::max(ready, graph_.point_ns(edge));
          any = true;
        }
        inner |= edge.kind == EdgeKind::graph_inner;
      }
      if (!any || start < ready) continue;
      if (inner)
        graph.push_back(start - ready);
      else if (ready >= handed_over)
        stream.push_back(start - ready);
      else if (start > handed_over)
        doubtful.push_back(start - ready);
    }
    if (stream.empty()) stream.swap(doubtful);
    graph_.gap_known = !stream.empty();
    stream_gap_ = graph_.gap_known ? least(stream) : 0;
    if (!graph.empty()) graph_gap_ = least(graph);
  }

  [[nodiscard]] std::uint32_t key_of(std::uint32_t index) const {
    const std::uint32_t operation = index < graph_.nodes.size() ? node(index).operation : kNoIndex;
    return operation != kNoIndex ? recorded_.operations[operation].key : kNoIndex;
  }

  void set_lags(EdgeKind kind) {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::size_t end =
          i + 1 < graph_.nodes.size() ? graph_.nodes[i + 1].first_edge : graph_.edges.size();
      if (!is_operation(node(i).kind)) continue;  // markers and waits follow at once
      for (std::size_t e = graph_.nodes[i].first_edge; e < end; ++e)
        if (graph_.edges[e].kind == kind) graph_.edges[e].lag_ns = lag_of(i, graph_.edges[e]);
    }
  }

  [[nodiscard]] std::uint64_t lag_of(std::uint32_t index, const GraphEdge& edge) const {
    switch (edge.kind) {
      case EdgeKind::launch: {
        const auto latency = latency_.find(launch_key(index, edge));
        return latency != latency_.end() ? latency->second : other_latency_;
      }
      case EdgeKind::graph_inner:
        return graph_gap_;
      case EdgeKind::pdl_start: {
        const auto lag = pdl_lag_.find(key_of(index + 1));
        return lag != pdl_lag_.end() ? lag->second : 0;
      }
      default:
        return stream_gap_;
    }
  }

  void judge(std::uint64_t jitter_ns) {
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      GraphNode& made = graph_.nodes[i];
      if (graph_.edges_to(i).empty()) continue;
      made.residual_ns = ns_between(graph_.latest_arrival_ns(i), made.start_ns);
      for (const GraphEdge& edge : graph_.edges_to(i))
        if (graph_.arrival_ns(edge) > ns_sum(made.start_ns, jitter_ns))
          ++graph_.violated[static_cast<std::size_t>(edge.kind)];
    }
  }

  const RecordedSteps& recorded_;
  StepGraph& graph_;
  std::map<std::uint32_t, std::uint64_t> latency_;
  std::uint64_t other_latency_ = 0, stream_gap_ = 0, graph_gap_ = 0;
  std::unordered_map<std::uint32_t, std::uint64_t> pdl_lag_;
  std::vector<bool> doubtful_;  // by node
};

}  // namespace

void settle_lags(const RecordedSteps& recorded, std::uint64_t jitter_ns, StepGraph& graph) {
  Lags(recorded, graph).settle(jitter_ns);
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Graph launches: each counts for every kernel of its graph, whose records name their nodes. The
// graph's own row has its counters, and the sum of its kernels' times.
#include <algorithm>

#include "analysis/profile/profile_state.h"

namespace gable {

GraphId Profile::add_graph(const GraphShape& shape) {
  State& state = *state_;
  const GraphId id = state.graphs.add(shape, state.limits.max_graphs, state.limits.max_graph_keys);
  if (id != 0) state.graphs.name(id, state.functions.intern(graph_symbol(id)));
  return id;
}

void Profile::add(const GraphLaunch& launch) {
  State& state = *state_;
  Graphs::Known* graph = state.graphs.find(launch.graph);
  Window* window = launch.window == kNoWindow ? nullptr : state.find(launch.window);
  if (graph == nullptr) {
    ++state.unknown_graph_launches;
    ++state.lost.unattributed_launches;
    state.known.insert(launch.correlation);
    if (window != nullptr) window->unions_known = false;  // its kernels keep the GPU busy unseen
    return;
  }
  if (window != nullptr && !measures(window->phase.kind)) window = nullptr;
  const KeyIndex key = state.keys.find_or_add(launch.key, state.oldest_open());
  ++state.keys.row(key).launches;
  if (window != nullptr) ++state.window_key(*window, key).launches;
  state.launches += graph->shape.kernels;
  for (std::size_t i = 0; i < graph->rows.size(); ++i) {
    const auto& [kernel, count] = graph->shape.known[i];
    KeyIndex& row = graph->rows[i];
    // A key that was folded meanwhile has another place, or none.
    if (row == kOtherKey || !(state.keys.row(row).key == kernel))
      row = state.keys.find_or_add(kernel, state.oldest_open());
    state.keys.row(row).launches += count;
    state.keys.row(row).in_graphs += count;
    if (window != nullptr) state.window_key(*window, row).launches += count;
  }
  const bool timed = window != nullptr && window->phase.kind == PhaseKind::time;
  if (!timed || graph->shape.kernels == 0) {
    state.known.insert(launch.correlation);
    return;
  }
  if (graph->shape.more) window->unions_known = false;
  if (launch.correlation != 0 && state.pending_graphs.size() < state.limits.max_pending_graphs) {
    const PendingGraph pending{key, launch.graph, launch.window, graph->shape.kernels, 0, false};
    if (state.pending_graphs.emplace(launch.correlation, pending).second) {
      window->waiting += graph->shape.kernels;
      return;
    }
  }
  state.known.insert(launch.correlation);
  window->unions_known = false;
  ++state.lost.unattributed_launches;
}

void Profile::add(const GraphKernelRecord& kernel) {
  State& state = *state_;
  const KernelRecord& record = kernel.record;
  const bool good = record.start_ns != 0 && record.end_ns >= record.start_ns;
  if (!good) ++state.lost.zero_timestamps;
  const auto found = state.pending_graphs.find(record.correlation);
  Window* window = found == state.pending_graphs.end() ? nullptr : state.find(found->second.window);
  if (window == nullptr) {
    if (good && !state.known.contains(record.correlation)) ++state.lost.unattributed_launches;
    return;
  }
  PendingGraph& pending = found->second;
  --window->waiting;
  if (!good) {
    window->unions_known = false;
    pending.broken = true;
  } else if (!window->ended || window->end.keep) {
    const GraphShape& shape = state.graphs.find(pending.graph)->shape;
    LaunchKey key = kernel.key;
    if (!kernel.placed) {
      key.layer = shape.layer;
      ++state.unplaced_kernels;
    }
    const KeyIndex row = state.keys.find_or_add(key, state.oldest_open());
    WindowKey& in_window = state.window_key(*window, row);
    if (in_window.launches == 0) in_window.from_records = true;
    if (in_window.from_records) {
      ++in_window.launches;
      ++state.keys.row(row).launches;
      ++state.keys.row(row).in_graphs;
    }
    const std::uint64_t duration = record.end_ns - record.start_ns;
    pending.sum_ns += duration;
    if (window->records.size() < state.limits.max_window_records) {
      window->records.push_back({record.start_ns, record.end_ns, row});
    } else {
      window->unions_known = false;
      window->overflow[row].add(duration);
    }
  }
  if (--pending.left == 0) {
    if (!pending.broken) window->overflow[pending.key].add(pending.sum_ns);
    state.pending_graphs.erase(found);
  }
  if (window->ended && window->waiting == 0) state.close_complete();
}

}  // namespace gable

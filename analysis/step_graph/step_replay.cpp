// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_graph/step_replay.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/step_graph/exposed.h"

namespace gable {
namespace {

constexpr std::uint32_t kFewestSteps = 4, kMostSteps = 64;
constexpr std::uint32_t kLongestPattern = 12;  // steps that repeat together

// Where each node of a step stands: the how-manieth of its call, and that call the how-manieth of
// its thread. Threads may interleave in another way in the next step.
class NodePlaces {
 public:
  using Place = std::pair<std::uint32_t, std::uint32_t>;  // host's resource and call, node of call

  NodePlaces(const StepGraph& graph, const StepGraph::Step& step) : graph_(graph), step_(step) {
    std::map<std::uint16_t, std::uint32_t> calls;
    std::uint32_t first = step.first_node;
    for (std::uint32_t i = step.first_node; i < step.end_node; ++i) {
      if (i == step.first_node || graph.nodes[i].call != graph.nodes[i - 1].call) {
        first = i;
        // A call's first node is the host's.
        const auto thread = graph.nodes[i].resource;
        calls_.push_back({thread, calls[thread]++});
        by_call_[calls_.back()] = i;
      }
      call_of_.push_back(static_cast<std::uint32_t>(calls_.size() - 1));
      offset_.push_back(i - first);
    }
  }

  // The node of `other` at the place of `node`, which is one of this step.
  [[nodiscard]] std::uint32_t counterpart(std::uint32_t node, const NodePlaces& other) const {
    const std::uint32_t at = node - step_.first_node;
    const auto found = other.by_call_.find(calls_[call_of_[at]]);
    if (found == other.by_call_.end()) return kNoIndex;
    const std::uint32_t there = found->second + offset_[at];
    if (there >= other.step_.end_node) return kNoIndex;
    const GraphNode &a = graph_.nodes[node], &b = graph_.nodes[there];
    const bool same = other.offset_[there - other.step_.first_node] == offset_[at] &&
                      a.kind == b.kind && a.resource == b.resource;
    return same ? there : kNoIndex;
  }

 private:
  const StepGraph& graph_;
  const StepGraph::Step step_;
  std::vector<std::pair<std::uint16_t, std::uint32_t>> calls_;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint32_t> by_call_;
  std::vector<std::uint32_t> call_of_, offset_;  // by node of the step
};

std::uint64_t scaled(std::uint64_t part, std::uint64_t length, std::uint64_t whole) {
  if (whole == 0 || length == whole) return part;
  return static_cast<std::uint64_t>(static_cast<long double>(part) * length / whole);
}

}  // namespace

// One replay: the times of as many steps as edges reach back.
class StepReplay::Run {
 public:
  Run(const StepReplay& replay, const Change& change)
      : replay_(replay), change_(change), rows_(replay.reach_ + 1u) {
    const auto& nodes = replay.nodes_;
    lengths_.reserve(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const Node& node = nodes[i];
      if (!change.keep_waits && is_wait(i)) {
        lengths_.push_back(0);
        continue;
      }
      const std::uint64_t changed =
          node.operation < change.length_ns.size() ? change.length_ns[node.operation] : kSameLength;
      if (changed == kSameLength)
        lengths_.push_back(node.length_ns);
      else if (node.flags & kPdlBody)
        lengths_.push_back(scaled(node.length_ns, changed, node.operation_ns));
      else
        lengths_.push_back(changed);
    }
    for (auto& row : rows_) row.resize(nodes.size());
  }

  // The starts of the next step's nodes.
  const std::vector<std::uint64_t>& next() {
    auto& row = rows_[done_ % rows_.size()];
    const auto& nodes = replay_.nodes_;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      std::uint64_t start = 0;
      for (const Edge& edge : replay_.edges_to(i))
        if (edge.steps_back <= done_ && (change_.keep_waits || edge.kind != EdgeKind::host_wait))
          start = std::max(start, arrival(edge));
      row[i] = change_.keep_residuals ? ns_sum(start, nodes[i].residual_ns) : start;
    }
    ++done_;
    return row;
  }

 private:
  // Only waking up from an operation; staging is work of the call.
  [[nodiscard]] bool is_wait(std::size_t node) const {
    const auto edges = replay_.edges_to(node);
    return replay_.nodes_[node].kind == NodeClass::host_wait &&
           (replay_.nodes_[node].flags & kStages) == 0 &&
           std::any_of(edges.begin(), edges.end(),
                       [](const Edge& edge) { return edge.kind == EdgeKind::host_wait; });
  }

  [[nodiscard]] std::uint64_t arrival(const Edge& edge) const {
    const auto& row = rows_[(done_ - edge.steps_back) % rows_.size()];
    const bool head = (replay_.nodes_[edge.from].flags & kPdlBody) != 0;
    const std::uint64_t end = ns_sum(row[edge.from], lengths_[edge.from]);
    if (!is_from_start(edge.kind)) {
      const bool gap = edge.kind == EdgeKind::program_order || edge.kind == EdgeKind::handoff;
      if (gap && !change_.keep_host_gaps) return end;
      return ns_sum(end, change_.keep_input ? edge.lag_ns : edge.lag_ns - edge.input_ns);
    }
    const std::uint64_t start = ns_sum(row[head ? edge.from - 1 : edge.from], edge.lag_ns);
    return edge.kind == EdgeKind::pdl_start ? std::min(start, end) : start;
  }

  const StepReplay& replay_;
  const Change& change_;
  std::vector<std::uint64_t> lengths_;
  std::vector<std::vector<std::uint64_t>> rows_;
  std::uint32_t done_ = 0;
};

std::optional<StepReplay> StepReplay::of(const StepGraph& graph, std::size_t step) {
  if (step == 0 || step >= graph.steps.size() || graph.steps[step].border == kNoIndex) return {};
  return StepReplay(graph, step);
}

StepReplay::StepReplay(const StepGraph& graph, std::size_t step)
    : border_(graph.steps[step].border - graph.steps[step].first_node) {
  fold(graph, step);
  const auto& own = graph.steps[step];
  measure_overlap(graph, own.first_node, own.end_node);
  mark_reaching();
  base_ = steady({});
  if (step + 1 < graph.steps.size() && graph.steps[step + 1].border != kNoIndex)
    measured_ns_ = static_cast<double>(ns_between(
        graph.nodes[own.border].start_ns, graph.nodes[graph.steps[step + 1].border].start_ns));
}

void StepReplay::fold(const StepGraph& graph, std::size_t step) {
  const StepGraph::Step &own = graph.steps[step], &before = graph.steps[step - 1];
  const NodePlaces places(graph, own), places_before(graph, before);
  std::map<std::uint16_t, std::vector<std::uint32_t>> entries;  // first nodes, by stream
  std::vector<std::pair<std::uint32_t, std::uint16_t>> gated;   // edge, stream
  std::map<std::uint16_t, std::uint32_t> last;                  // nodes, by thread or stream
  for (std::uint32_t i = own.first_node; i < own.end_node; ++i) last[graph.nodes[i].resource] = i;
  for (std::uint32_t i = own.first_node; i < own.end_node; ++i) {
    const GraphNode& node = graph.nodes[i];
    Node made;
    made.length_ns = ns_between(node.start_ns, node.end_ns);
    made.residual_ns = node.residual_ns;
    made.first_edge = static_cast<std::uint32_t>(edges_.size());
    made.operation = node.operation;
    made.kind = node.kind;
    made.flags = node.flags;
    made.operation_ns = (node.flags & kPdlBody)
                            ? ns_between(graph.nodes[i - 1].start_ns, node.end_ns)
                            : made.length_ns;
    nodes_.push_back(made);
    for (const GraphEdge& edge : graph.edges_to(i)) {
      if (edge.kind == EdgeKind::queue_full) continue;  // counted out below
      if (edge.from >= own.first_node) {
        edges_.push_back(
            {edge.lag_ns, graph.input_ns(edge), edge.from - own.first_node, 0, edge.kind});
        continue;
      }
      // What comes before a thread's or stream's first node of a step is its last one of the step
      // before; where that is another step, it is the last one of this.
      const bool in_order = edge.kind == EdgeKind::program_order ||
                            edge.kind == EdgeKind::stream_order ||
                            edge.kind == EdgeKind::pdl_start || edge.kind == EdgeKind::pdl_end;
      std::uint32_t there = kNoIndex;
      if (in_order)
        there = last.at(node.resource);
      else if (edge.from >= before.first_node && edge.from < before.end_node)
        there = places_before.counterpart(edge.from, places);
      if (there == kNoIndex)
        ++unmatched_;
      else
        edges_.push_back({edge.lag_ns, graph.input_ns(edge), there - own.first_node, 1, edge.kind});
    }
    // A call that launches is followed by the first node of what it launched.
    const bool launches = is_host(node.kind) && i + 1 < own.end_node &&
                          graph.nodes[i + 1].call == node.call && !is_host(graph.nodes[i + 1].kind);
    if (launches && graph.queue_depth > 0) {
      const std::uint16_t stream = graph.nodes[i + 1].resource;
      gated.push_back({static_cast<std::uint32_t>(edges_.size()), stream});
      edges_.push_back(
          {0, 0, static_cast<std::uint32_t>(entries[stream].size()), 0, EdgeKind::queue_full});
      entries[stream].push_back(i + 1 - own.first_node);
    }
  }
  // The entry that must have left the queue stands queue_depth entries before, steps back maybe.
  for (const auto& [edge, stream] : gated) {
    const auto& row = entries[stream];
    const auto count = static_cast<std::int64_t>(row.size());
    const std::int64_t at = std::int64_t{edges_[edge].from} - std::int64_t{graph.queue_depth};
    const std::int64_t back = at >= 0 ? 0 : (-at + count - 1) / count;
    edges_[edge].from = row[static_cast<std::size_t>(at + back * count)];
    edges_[edge].steps_back = static_cast<std::uint32_t>(std::min<std::int64_t>(back, kMostSteps));
    reach_ = std::max(reach_, edges_[edge].steps_back);
  }
}

void StepReplay::measure_overlap(const StepGraph& graph, std::uint32_t first, std::uint32_t end) {
  const auto count = static_cast<std::uint32_t>(graph.nodes.size());
  const auto intervals = busy_intervals(graph, 0, count);
  const auto overlapped = overlapped_ns(graph, intervals);
  for (std::size_t i = 0; i < intervals.size(); ++i)
    if (intervals[i].node >= first && intervals[i].node < end)
      nodes_[intervals[i].node - first].overlapped_ns = overlapped[i];
}

// Which nodes the border waits for, in this step or a later one.
void StepReplay::mark_reaching() {
  std::vector<std::uint32_t> open{border_};
  nodes_[border_].reaches_border = true;
  const auto visit = [&](std::uint32_t node) {
    if (std::exchange(nodes_[node].reaches_border, true)) return;
    open.push_back(node);
  };
  while (!open.empty()) {
    const std::uint32_t node = open.back();
    open.pop_back();
    if (nodes_[node].flags & kPdlBody) visit(node - 1);
    for (const Edge& edge : edges_to(node)) visit(edge.from);
  }
  std::vector<bool> later(nodes_.size());
  later[border_] = true;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i].reaches_border) continue;
    for (const Edge& edge : edges_to(i)) {
      if (edge.steps_back == 0) continue;
      later[edge.from] = true;
      if (nodes_[edge.from].flags & kPdlBody) later[edge.from - 1] = true;
    }
  }
  for (std::uint32_t i = 0; i < nodes_.size(); ++i)
    if (later[i]) state_.push_back(i);
}

SteadyStep StepReplay::steady(const Change& change) const {
  SteadyStep result;
  Run run(*this, change);
  std::vector<std::vector<std::uint64_t>> past;  // the state after each step
  const auto growth = [&](std::size_t step, std::size_t pattern, std::size_t node) {
    return ns_between(past[step - pattern][node], past[step][node]);
  };
  using Growth = std::pair<std::uint64_t, std::uint32_t>;  // growth over a pattern, and its steps
  Growth last;
  std::uint32_t alike = 0;
  for (std::uint32_t step = 0; step < kMostSteps; ++step) {
    const auto& starts = run.next();
    auto& now = past.emplace_back();
    now.reserve(state_.size());
    for (const std::uint32_t node : state_) now.push_back(starts[node]);
    result.steps = step + 1;
    Growth found;
    for (std::uint32_t pattern = 1; pattern <= kLongestPattern && 2 * pattern <= step; ++pattern) {
      std::uint64_t most = 0;
      for (std::size_t i = 0; i < state_.size(); ++i)
        most = std::max(most, growth(step, pattern, i));
      for (std::size_t i = 0; i < state_.size() && found.second == 0; ++i)
        if (growth(step, pattern, i) == most && growth(step - pattern, pattern, i) == most)
          found = {most, pattern};
      if (found.second != 0) break;
    }
    alike = found.second != 0 && found == last ? alike + 1 : 0;
    last = found;
    if (found.second != 0 && alike >= reach_ && result.steps >= kFewestSteps) {
      result.step_ns = static_cast<double>(found.first) / found.second;
      result.settled = true;
      return result;
    }
  }
  const std::size_t end = past.size() - 1, half = end / 2;
  for (std::size_t i = 0; i < state_.size(); ++i)
    result.step_ns = std::max(result.step_ns, static_cast<double>(growth(end, end - half, i)) /
                                                  static_cast<double>(end - half));
  return result;
}

SavingRange StepReplay::saving(const Change& change) const {
  SavingRange range;
  const SteadyStep& base = base_;
  const SteadyStep high = steady(change);
  range.settled = base.settled && high.settled;
  const auto saved = [&](double step_ns) {
    return std::clamp(base.step_ns - step_ns, 0.0, base.step_ns);
  };
  range.high_ns = saved(high.step_ns);

  Change alone = change;
  std::uint64_t taken = 0, taken_beside = 0;
  bool waits_for_ranks = false;
  for (const Node& node : nodes_) {
    const bool changed =
        node.operation < change.length_ns.size() && change.length_ns[node.operation] != kSameLength;
    if (node.kind == NodeClass::collective && node.reaches_border && !changed &&
        node.operation != kNoIndex)
      waits_for_ranks = true;
    if (!changed || change.length_ns[node.operation] >= node.operation_ns) continue;
    const std::uint64_t beside = std::min(node.overlapped_ns, node.operation_ns);
    taken = ns_sum(taken, node.operation_ns);
    taken_beside = ns_sum(taken_beside, beside);
    alone.length_ns[node.operation] = ns_sum(
        beside,
        scaled(node.operation_ns - beside, change.length_ns[node.operation], node.operation_ns));
  }
  range.overlapped = static_cast<double>(taken_beside) > 0.1 * static_cast<double>(taken);
  range.other_ranks = waits_for_ranks && range.high_ns > 0;
  range.low_ns = range.high_ns;
  if (taken_beside > 0) {
    const SteadyStep low = steady(alone);
    range.settled = range.settled && low.settled;
    range.low_ns = std::min(range.high_ns, saved(low.step_ns));
  }
  // The other ranks keep their pace, and the step that waits for them keeps it, too.
  if (range.other_ranks) range.low_ns = 0;
  return range;
}

Maybe StepReplay::replay_error() const {
  if (!(measured_ns_.value_or(0) > 0)) return std::nullopt;
  Change change;
  change.keep_residuals = false;
  return (steady(change).step_ns - *measured_ns_) / *measured_ns_;
}

Change StepReplay::without(const Parts& parts) const {
  Change change;
  change.keep_host_gaps = !parts.host_gaps;
  change.keep_input = !parts.input;
  change.keep_waits = !parts.waits;
  for (const Node& node : nodes_) {
    const bool copy = node.kind == NodeClass::copy || node.kind == NodeClass::memset;
    const bool taken = (parts.kernels && node.kind == NodeClass::kernel) ||
                       (parts.communication && node.kind == NodeClass::collective) ||
                       (parts.copies && copy);
    if (!taken || node.operation == kNoIndex) continue;
    if (change.length_ns.size() <= node.operation)
      change.length_ns.resize(node.operation + std::size_t{1}, kSameLength);
    change.length_ns[node.operation] = 0;
  }
  return change;
}

std::vector<std::uint64_t> StepReplay::starts(const Change& change, std::uint32_t steps) const {
  std::vector<std::uint64_t> result;
  Run run(*this, change);
  for (std::uint32_t step = 0; step < steps; ++step) {
    const auto& row = run.next();
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

}  // namespace gable

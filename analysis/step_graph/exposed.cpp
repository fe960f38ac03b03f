// SPDX-License-Identifier: Apache-2.0
#include "analysis/step_graph/exposed.h"

#include <algorithm>
#include <array>

namespace gable {
namespace {

struct Moment {
  std::uint64_t at_ns = 0;
  bool begins = false;
  std::uint8_t group = 0;
};

// Which of compute, communication and copies a node is; 3: none of them.
std::uint8_t group_of(NodeClass kind) {
  switch (kind) {
    case NodeClass::kernel:
      return 0;
    case NodeClass::collective:
      return 1;
    case NodeClass::copy:
    case NodeClass::memset:
      return 2;
    default:
      return 3;
  }
}

void sort_moments(std::vector<Moment>& moments) {
  std::sort(moments.begin(), moments.end(),
            [](const Moment& a, const Moment& b) { return a.at_ns < b.at_ns; });
}

}  // namespace

std::vector<BusyInterval> busy_intervals(const StepGraph& graph, std::uint32_t first_node,
                                         std::uint32_t end_node) {
  std::vector<BusyInterval> intervals;
  for (std::uint32_t i = first_node; i < end_node; ++i) {
    const GraphNode& node = graph.nodes[i];
    if (node.operation == kNoIndex || (node.flags & kTimeUnknown) || group_of(node.kind) == 3)
      continue;
    const bool split = (node.flags & kPdlBody) != 0;
    intervals.push_back({graph.nodes[split ? i - 1 : i].start_ns, node.end_ns, i});
  }
  return intervals;
}

ExposedTime exposed_time(const StepGraph& graph, std::uint64_t start_ns, std::uint64_t end_ns) {
  std::vector<Moment> moments;
  const auto count = static_cast<std::uint32_t>(graph.nodes.size());
  for (const BusyInterval& interval : busy_intervals(graph, 0, count)) {
    const auto begin = std::max(interval.start_ns, start_ns);
    const auto end = std::min(interval.end_ns, end_ns);
    if (begin >= end) continue;
    const std::uint8_t group = group_of(graph.nodes[interval.node].kind);
    moments.push_back({begin, true, group});
    moments.push_back({end, false, group});
  }
  sort_moments(moments);
  moments.push_back({std::max(start_ns, end_ns), false, 3});

  std::array<std::uint32_t, 4> running{};
  std::array<std::uint64_t, 4> sums{};
  std::uint64_t at = start_ns;
  for (const Moment& moment : moments) {
    const auto busy = std::find_if(running.begin(), running.end() - 1,
                                   [](std::uint32_t operations) { return operations > 0; });
    sums[static_cast<std::size_t>(busy - running.begin())] += moment.at_ns - at;
    at = moment.at_ns;
    if (moment.group < 3) running[moment.group] += moment.begins ? 1u : ~0u;
  }
  return {sums[0], sums[1], sums[2], sums[3]};
}

std::vector<std::uint64_t> overlapped_ns(const StepGraph& graph,
                                         const std::vector<BusyInterval>& intervals) {
  const auto is_kernel = [&](const BusyInterval& interval) {
    return group_of(graph.nodes[interval.node].kind) < 2 && interval.end_ns > interval.start_ns;
  };
  std::vector<Moment> moments;
  for (const BusyInterval& interval : intervals) {
    if (!is_kernel(interval)) continue;
    moments.push_back({interval.start_ns, true, 0});
    moments.push_back({interval.end_ns, false, 0});
  }
  sort_moments(moments);
  // How long at least two kernels ran until each of these moments. While a kernel runs, that is
  // the time it has company.
  std::vector<std::uint64_t> shared(moments.size());
  std::uint64_t sum = 0;
  std::uint32_t running = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (running >= 2) sum += moments[i].at_ns - moments[i - 1].at_ns;
    shared[i] = sum;
    running += moments[i].begins ? 1u : ~0u;
  }
  const auto until = [&](std::uint64_t ns) {
    const auto found = std::partition_point(
        moments.begin(), moments.end(), [&](const Moment& moment) { return moment.at_ns < ns; });
    return shared[static_cast<std::size_t>(found - moments.begin())];
  };
  std::vector<std::uint64_t> result;
  result.reserve(intervals.size());
  for (const BusyInterval& interval : intervals)
    result.push_back(is_kernel(interval) ? until(interval.end_ns) - until(interval.start_ns) : 0);
  return result;
}

}  // namespace gable

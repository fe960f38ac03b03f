// SPDX-License-Identifier: Apache-2.0
// How a step's time divides by what the GPU was busy with, as sets of intervals. Every ns of the
// step is in one of the four, so they add up. (How much shorter the step would be without
// communication or copies is another number: StepReplay::saving_ns.)
//   compute        any kernel that is no collective ran
//   communication  a collective ran, and none of these
//   copies         a copy or memset ran, and nothing else
//   idle           the rest
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/step_graph/step_graph.h"

namespace gable {

struct ExposedTime {
  std::uint64_t compute_ns = 0, communication_ns = 0, copies_ns = 0, idle_ns = 0;
};

[[nodiscard]] ExposedTime exposed_time(const StepGraph& graph, std::uint64_t start_ns,
                                       std::uint64_t end_ns);

// When an operation's node ran; a split kernel runs from its head on.
struct BusyInterval {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint32_t node = 0;
};
[[nodiscard]] std::vector<BusyInterval> busy_intervals(const StepGraph& graph,
                                                       std::uint32_t first_node,
                                                       std::uint32_t end_node);

// For each interval, how much of it overlaps other kernels, in ns.
[[nodiscard]] std::vector<std::uint64_t> overlapped_ns(const StepGraph& graph,
                                                       const std::vector<BusyInterval>& intervals);

}  // namespace gable

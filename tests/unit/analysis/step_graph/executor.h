// SPDX-License-Identifier: Apache-2.0
// Runs a made-up program and writes the records that a profiler would: threads that go from call
// to call, streams that are FIFO queues, and tokens. At each moment at which something may happen
// it looks who can go on. It shares no code with the analysis, has no graph, and takes no maximum
// over paths.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/unit/analysis/step_graph/program.h"

namespace gable::made_up {

// Of a call: its beginning on the host, what it did on the GPU, and its end on the host where that
// is apart; a graph launch or overlapping kernel has a head before, a graph's nodes follow.
enum Part : std::uint32_t { kIssue, kWork, kReturn, kHead, kNodes, kParts = 16 };
using Entity = std::uint64_t;  // call * kParts + part

struct Execution {
  RecordedSteps recorded;                          // of the steps asked for
  std::vector<std::pair<Entity, Entity>> depends;  // the first must be over before the second
  // By step: the starts of the work of each instruction's (1 + kNodes) parts.
  std::vector<std::vector<std::uint64_t>> starts;
};
// The parts' places in a row of `starts`.
inline std::size_t place_of(std::size_t instruction, std::size_t graph_node_or_work) {
  return instruction * kParts + graph_node_or_work;
}

// Of steps 0 to `steps`, those from `first` to `end` are recorded. Correlations are 1 + step *
// instructions + instruction, graph node ids 1 + node.
[[nodiscard]] Execution execute(const Program& program, const std::vector<std::uint64_t>& lengths,
                                std::uint32_t steps, std::uint32_t first, std::uint32_t end);

}  // namespace gable::made_up

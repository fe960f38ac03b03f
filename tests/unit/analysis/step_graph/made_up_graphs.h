// SPDX-License-Identifier: Apache-2.0
// How many made-up programs the tests draw, and which part of each run is recorded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "analysis/step_graph/step_graph.h"
#include "tests/unit/analysis/step_graph/executor.h"

namespace gable::made_up {

// In CI 500 programs, with GABLE_LONG_TESTS=1 10,000; always the same.
inline std::uint32_t programs() {
  const char* const many = std::getenv("GABLE_LONG_TESTS");
  return many != nullptr && std::string(many) == "1" ? 10000 : 500;
}

// Steps 28 to 39 of 40 are recorded, enough for the launch queue to be seen from entry to entry.
inline constexpr std::uint32_t kRun = 40, kFirst = 28, kWindow = kRun - kFirst;
// The step that is looked at: all that it waits for was recorded.
inline constexpr std::uint32_t kStep = kWindow - 2;

inline Execution recorded(const Program& program) {
  return execute(program, program.lengths, kRun, kFirst, kRun);
}

// Which operation of which instruction a step's border is, in Execution::starts.
inline std::size_t border_place(const Program& program, const RecordedSteps& recorded,
                                const StepGraph& graph) {
  const GraphNode& node = graph.nodes[graph.steps[kStep].border];
  const RecordedOperation& border = recorded.operations[node.operation];
  const std::size_t part =
      border.graph_node == 0 ? std::size_t{kWork} : std::size_t{kNodes} + border.graph_node - 1;
  return place_of((border.correlation - 1) % program.step.size(), part);
}

// What a program's steps grow by in the long run, at one of its operations, ns.
inline double truth(const Program& program, const std::vector<std::uint64_t>& lengths,
                    std::size_t place, std::uint32_t steps) {
  const Execution execution = execute(program, lengths, steps, 0, 1);
  // 24 steps hold whole patterns of 1, 2, 3, 4, 6, 8 and 12 steps.
  return static_cast<double>(execution.starts[steps - 1][place] -
                             execution.starts[steps - 25][place]) /
         24;
}

// Of all operations that the one at `place` waits for, in this step or an earlier one, the most:
// streams that nothing keeps together any more go each at its own pace. `as_it_was`: the program's
// own run, which says what waits for what.
inline double slowest_truth(const Program& program, const Execution& as_it_was, std::size_t place,
                            std::uint32_t steps) {
  const std::size_t places = program.step.size() * kParts;
  std::vector<std::vector<std::size_t>> waits_for(places);
  for (const auto& [from, to] : as_it_was.depends)
    waits_for[to % places].push_back(static_cast<std::size_t>(from % places));
  std::vector<bool> needed(places);
  std::vector<std::size_t> open = {place};
  needed[place] = true;
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    for (const std::size_t other : waits_for[at]) {
      if (needed[other]) continue;
      needed[other] = true;
      open.push_back(other);
    }
  }
  const Execution execution = execute(program, program.lengths, steps, 0, 1);
  const auto &last = execution.starts[steps - 1], &before = execution.starts[steps - 25];
  double most = 0;
  for (std::size_t at = 0; at < places; ++at)
    if (needed[at]) most = std::max(most, static_cast<double>(last[at] - before[at]) / 24);
  return most;
}

}  // namespace gable::made_up

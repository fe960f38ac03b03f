// SPDX-License-Identifier: Apache-2.0
// What a step would take if some of its operations took another time. One recorded step is laid
// end to end with itself; a node starts when the latest of its edges allows (max-plus, O(V + E) a
// step), and the order on every thread and stream stays as recorded. Edges across the border come
// from the step before. The first step finds everything idle, before and after the change alike:
// from a running state a full launch queue takes dozens of steps to drain.
//
// The step's length is the growth from one step to the next once it repeats. All times that the
// next step depends on are compared: none may grow faster (it would be noticed later), and one
// that grows so must have done so twice. A pattern of several steps counts by its mean.
//
// Daydream (ATC'20), dPRO (MLSys'22) and Lumos (MLSys'25) replay so, but one step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/base/maybe.h"
#include "analysis/step_graph/step_graph.h"

namespace gable {

inline constexpr std::uint64_t kSameLength = ~std::uint64_t{0};

struct Change {
  // New lengths in ns by index in RecordedSteps::operations; those beyond its end keep theirs.
  std::vector<std::uint64_t> length_ns;
  bool keep_host_gaps = true;  // false: no time between the calls of a thread
  bool keep_input = true;      // false: without the part of these gaps that fetched the next input
  bool keep_waits = true;      // false: the host waits for no operation, and returns at once
  bool keep_residuals = true;  // false: nodes start when their edges allow
};

struct SteadyStep {
  double step_ns = 0;
  std::uint32_t steps = 0;  // number of steps replayed
  bool settled = false;     // false: the length is the fastest growth over the second half
};

struct SavingRange {
  // Equal unless something below applies. Never negative or above the step.
  double low_ns = 0, high_ns = 0;
  bool overlapped = false;   // > 10 % of the changed time ran beside other kernels, which may have
                             // slowed it: low changes only the part that ran alone
  bool other_ranks = false;  // collectives wait for others: low is with others as they are, high
                             // with all ranks changed alike
  bool settled = false;
};

class StepReplay {
 public:
  // A replay of the step; empty if it has no previous step or no border.
  [[nodiscard]] static std::optional<StepReplay> of(const StepGraph& graph, std::size_t step);

  // Number of waits for work of the previous step that this step does not have; they are left out.
  [[nodiscard]] std::uint32_t unmatched_edges() const { return unmatched_; }

  [[nodiscard]] SteadyStep steady(const Change& change) const;
  [[nodiscard]] const SteadyStep& base() const { return base_; }  // steady() without a change
  [[nodiscard]] SavingRange saving(const Change& change) const;
  // (steady without residuals - measured) / measured: the error of the graph alone. Empty if no
  // step with a border follows.
  [[nodiscard]] Maybe replay_error() const;
  // A change that removes all time of these operations, and the host's time between its calls; the
  // calls stay. Kernels: all but collectives.
  struct Parts {
    bool kernels = false, communication = false, copies = false, host_gaps = false;
    bool input = false;  // the host's time for input between its calls
    bool waits = false;  // the host's waits for operations; staging a copy takes its time
  };
  [[nodiscard]] Change without(const Parts& parts) const;

  // The starts of all nodes in `steps` steps from idle, one step after the other.
  [[nodiscard]] std::vector<std::uint64_t> starts(const Change& change, std::uint32_t steps) const;

  struct Node {
    std::uint64_t length_ns = 0, residual_ns = 0, operation_ns = 0, overlapped_ns = 0;
    std::uint32_t first_edge = 0;
    std::uint32_t operation = kNoIndex;
    NodeClass kind = NodeClass::marker;
    std::uint8_t flags = 0;
    bool reaches_border = false;
  };
  struct Edge {
    std::uint64_t lag_ns = 0;
    std::uint64_t input_ns = 0;  // input's part of the lag
    std::uint32_t from = 0;
    std::uint32_t steps_back = 0;
    EdgeKind kind = EdgeKind::program_order;
  };
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] std::span<const Edge> edges_to(std::size_t node) const {
    const std::size_t end = node + 1 < nodes_.size() ? nodes_[node + 1].first_edge : edges_.size();
    return std::span(edges_).subspan(nodes_[node].first_edge, end - nodes_[node].first_edge);
  }
  [[nodiscard]] std::uint32_t border() const { return border_; }

 private:
  class Run;
  StepReplay(const StepGraph& graph, std::size_t step);
  void fold(const StepGraph& graph, std::size_t step);
  void mark_reaching();
  void measure_overlap(const StepGraph& graph, std::uint32_t first, std::uint32_t end);

  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> state_;  // nodes that later steps depend on, and the border
  std::uint32_t border_, reach_ = 1, unmatched_ = 0;
  SteadyStep base_;
  Maybe measured_ns_;
};

}  // namespace gable

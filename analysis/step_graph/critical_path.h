// SPDX-License-Identifier: Apache-2.0
// The critical path of a step, walked backwards in measured time from the start of the next step's
// border. A node owns the time from the cursor down to its own start, or to the point of its latest
// predecessor if that is later; the hole below is named by the edge, and what the edge does not
// explain is a separate piece. So the pieces tile the step to the ns, whatever the records say. (A
// longest path over weighted edges, as in HTA, need not add up to the step.)
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/base/maybe.h"
#include "analysis/step_graph/step_graph.h"

namespace gable {

enum class PieceKind : std::uint8_t {
  kernel,
  collective,
  copy,
  memset,
  host_function,
  host_call,
  wake_up,         // from the end of what the host waited for until the call returned
  host_gap,        // between two calls of a thread
  launch_latency,  // from ENTER to the start of the operation
  stream_gap,      // between operations of a stream, or of streams that wait for each other
  graph_gap,       // between operations of a graph
  overlap,         // between the starts of two kernels of which one begins before the other ends
  queue_full,
  unexplained,  // no edge says why the node did not begin earlier
};

struct PathPiece {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint32_t node = 0;  // the node whose time it is, or that it precedes
  PieceKind kind = PieceKind::unexplained;
};

struct CriticalPath {
  std::uint64_t start_ns = 0, end_ns = 0;  // the step
  std::vector<PathPiece> pieces;           // in time order, each ending where the next begins
  std::uint64_t unexplained_ns = 0;
  // 1 - unexplained / step; empty if the step has no length.
  [[nodiscard]] Maybe explained() const;
};

// The critical path of a step; no pieces unless it has a border and one after it.
[[nodiscard]] CriticalPath critical_path(const StepGraph& graph, std::size_t step);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Makes the graph of recorded steps. Which edges there are follows from the order of the calls
// alone, never from times; times only confirm that a copy or a free did wait, say how long the
// launch queue is, and measure the lags.
//
// Lags, each the 5th percentile of what was seen, so that a late one is a residual:
//   launch latency   start - ENTER where all else was ready at ENTER; of a thread and a kind
//   stream gap       start - end before, where the launch was ready by that end; of all streams
//   graph gap        start - latest end before, within graphs
// An event record or stream wait takes effect at ENTER: nothing tells when it did.
#pragma once

#include <cstdint>

#include "analysis/step_graph/recorded_steps.h"
#include "analysis/step_graph/step_graph.h"

namespace gable {

struct GraphOptions {
  // How far the clocks may differ: an edge counts as violated only beyond this, and a call may have
  // waited for work that seems to end up to this much after it.
  std::uint64_t jitter_ns = 0;
};

// Sorts the records, then takes time proportional to calls and operations, and for the legacy
// stream and waits for a context also to streams. 60,000 launches took 14 ms.
[[nodiscard]] StepGraph build_step_graph(const RecordedSteps& recorded,
                                         const GraphOptions& options = {});

}  // namespace gable

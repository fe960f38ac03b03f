// SPDX-License-Identifier: Apache-2.0
// The lags of a graph's edges, measured from the graph itself, and what follows from them: the
// times of nodes without their own, residuals, and violated edges.
#pragma once

#include <cstdint>

#include "analysis/step_graph/recorded_steps.h"
#include "analysis/step_graph/step_graph.h"

namespace gable {

void settle_lags(const RecordedSteps& recorded, std::uint64_t jitter_ns, StepGraph& graph);

}  // namespace gable

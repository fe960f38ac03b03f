// SPDX-License-Identifier: Apache-2.0
// What recorded steps add to the report: the critical path, exposed time, and how much shorter a
// step would be with kernels at their roof (docs/step-graph.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/builder/kernel_rows.h"
#include "analysis/builder/layer_rows.h"
#include "analysis/profile/profile_state.h"
#include "analysis/report/report.h"
#include "analysis/roofline/roofline.h"

namespace gable {

inline constexpr double kEnoughExplained = 0.9;  // share of the path; below it no saving is given

// Most edges visited to compute savings; about 2 ns each. Rows with the largest savings go first.
inline constexpr std::uint64_t kMostEdgesReplayed = 300'000'000;

// Fills the fields that report.h derives from recorded steps, in the step, the layers and the
// kernels. `kernels`: report.kernels, in their order. Returns sentences for run.notes. Does nothing
// if no step was recorded.
std::vector<std::string> fill_step_answers(const Profile::State& state,
                                           const std::vector<KernelOfLayer>& kernels,
                                           const LayerIds& ids, const Roofline& roofline,
                                           Report& report,
                                           std::uint64_t most_edges = kMostEdgesReplayed);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The steps of several processes as one.
#pragma once

#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Means over the processes, known where all know them. Standard deviations are of all their steps:
// within the processes and between them. What a step would win is bounded by the least and the
// most of them, and its graph is believed as far as the least of theirs.
[[nodiscard]] Step merge_steps(const std::vector<Report>& reports);

}  // namespace gable

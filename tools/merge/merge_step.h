// SPDX-License-Identifier: Apache-2.0
// The steps of several processes as one.
#pragma once

#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Means over the processes, known if known in all. Standard deviations are of all their steps:
// within the processes and between them. What a step could save lies between the least and the most
// that one of them could save; the merged graph is as reliable as the least reliable of theirs.
[[nodiscard]] Step merge_steps(const std::vector<Report>& reports);

}  // namespace gable

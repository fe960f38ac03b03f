// SPDX-License-Identifier: Apache-2.0
// Makes reports of one GPU each comparable, such as those of two ranks, whichever of a machine's
// GPUs they used.
#pragma once

#include <vector>

#include "analysis/report/report.h"

namespace gable {

// If each report has kernels on only one GPU, gives that GPU its number in the first report.
void take_same_device(std::vector<Report>& reports);

}  // namespace gable

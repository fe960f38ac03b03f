// SPDX-License-Identifier: Apache-2.0
// Reports of one GPU each, such as those of two ranks of a machine: it does not matter for
// comparing them which of its GPUs it was.
#pragma once

#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Where each report has kernels on one GPU alone, all get the number that it has in the first one.
void take_same_device(std::vector<Report>& reports);

}  // namespace gable

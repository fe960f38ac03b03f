// SPDX-License-Identifier: Apache-2.0
// Analytic work in place of counters. Internal to analysis/.
#pragma once

#include "analysis/report/report.h"
#include "analysis/roofline/roofline.h"

namespace gable {

// The layer's own operators as if they were one kernel that took the layer's own time: its work and
// bytes by formula, under the roofs of the types that they count as. If the GPU has no tensor cores
// for a type, or for FP64, its CUDA cores' roof is used.
[[nodiscard]] KernelRow kernel_of_model(const Roofline& roofline, const LayerModel::Part& own,
                                        const LayerRow& layer);

}  // namespace gable

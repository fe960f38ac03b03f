// SPDX-License-Identifier: Apache-2.0
// Layers, kernels and copies of several reports.
#pragma once

#include <vector>

#include "analysis/report/report.h"
#include "tools/merge/merge_devices.h"

namespace gable {

// Fills layers, kernels and copies.
void merge_rows(const std::vector<Report>& reports, const MergedDevices& devices, Report& out);

}  // namespace gable

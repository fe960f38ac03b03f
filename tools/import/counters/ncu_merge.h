// SPDX-License-Identifier: Apache-2.0
// Merges several files of counters: one metric per file, or other kernels in each.
#pragma once

#include <string>
#include <vector>

#include "tools/import/records/imported.h"

namespace gable {

// Launches of one file, in their order. Where their kernels, grids and blocks are those of launches
// that are there, in the same order, and their metrics are new there, they are the same launches;
// where kernels alone are the same and metrics are new, each gets the kernel's mean, and a note
// says so; else they are further launches.
void merge_counters(std::vector<Imported::CounterLaunch> launches, const std::string& file,
                    Imported& imported);

}  // namespace gable

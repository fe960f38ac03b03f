// SPDX-License-Identifier: Apache-2.0
// Quantities of a launch that follow from several of its counters. The counters may lie in
// different files, so this comes after the last of them.
#pragma once

#include "tools/import/records/imported.h"

namespace gable {

// Adds to each launch of `imported.counters` what it lacks and what its counters tell:
//  - its duration (ns), from cycles of a unit and their rate: cycles / (cycles per second);
//  - what the details page prints as a rate: per elapsed cycle of its unit, or per second;
//  - work of the tensor cores from their instructions, where there were none (compute capability
//    7.0 to 9.0, in all or of each kind on floating point), or where each does the same: on 7.0 a
//    warp's HMMA is an 8 x 8 x 4 product of 2 x 256 operations.
void derive_quantities(Imported& imported);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Roofs that files of ncu state: what a unit can do in a cycle (X.sum.peak_sustained), as ncu draws
// its own rooflines.
#pragma once

#include "tools/import/records/imported.h"

namespace gable {

// Adds them to `imported.stated`, in FLOP/s and byte/s, for each device of whose launches one has a
// unit's peak and the rate of its clock: peak per cycle x cycles per second, the median over such
// launches. After derive_quantities().
//   fp64, fp32  2 x thread instructions of dfma and ffma; fp16: 4 x hfma, which does two at once
//   dram        dram__bytes
//   l2          what slices deliver to the SMs (lts__lts2xbar), else lts__t_bytes
//   l1          what the L1 writes back to registers, else l1tex__t_bytes
void state_peaks(Imported& imported);

}  // namespace gable

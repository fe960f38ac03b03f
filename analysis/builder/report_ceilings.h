// SPDX-License-Identifier: Apache-2.0
// The report's roofs: at the SM clock of the counter windows, and at the highest one.
#pragma once

#include <string>
#include <vector>

#include "analysis/builder/kernel_rows.h"
#include "analysis/profile/profile_state.h"
#include "analysis/report/report.h"
#include "analysis/roofline/measured_roofs.h"

namespace gable {

// The roofs of the devices, which are in the report already, and the SM clocks of counter windows.
void fill_ceilings(const Profile::State& state, const std::vector<KernelOfLayer>& kernels,
                   const StoredRoofs& roofs, Report& report);

// Sentences about roofs that differ from what is expected.
[[nodiscard]] std::vector<std::string> ceiling_notes(const Report& report);

}  // namespace gable

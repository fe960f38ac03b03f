// SPDX-License-Identifier: Apache-2.0
// The framework's operators as the report's rows.
#pragma once

#include <string>
#include <vector>

#include "analysis/builder/kernel_rows.h"
#include "analysis/builder/layer_rows.h"
#include "analysis/profile/profile_state.h"
#include "analysis/report/report.h"

namespace gable {

// Which operators launch which of `kernels` (in the report's order), how often in a step, and what
// that adds up to; longest first. Nothing if no step was described, or the report is not per step.
// What neither launches nor moves anything has no row. Appends to `notes` what was left out.
[[nodiscard]] std::vector<OperatorRow> operator_rows(const Profile::State& state,
                                                     const UnitScale& unit,
                                                     const std::vector<KernelOfLayer>& kernels,
                                                     const LayerRows& layers,
                                                     std::vector<std::string>& notes);

}  // namespace gable

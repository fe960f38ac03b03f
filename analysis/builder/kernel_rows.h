// SPDX-License-Identifier: Apache-2.0
// Launch keys as the report's kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/builder/unit_scale.h"
#include "analysis/profile/profile_state.h"
#include "analysis/report/report.h"

namespace gable {

// A kernel row and the layer it was launched in.
struct KernelOfLayer {
  LaunchKey key;
  LayerId layer = 0;
  std::uint64_t first_seen = 0;
  KernelRow row;
};
// Every key that belongs to the unit, in the order of first launches; roofs not yet applied.
[[nodiscard]] std::vector<KernelOfLayer> kernel_rows(const Profile::State& state,
                                                     const UnitScale& unit);

}  // namespace gable

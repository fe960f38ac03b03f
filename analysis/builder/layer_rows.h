// SPDX-License-Identifier: Apache-2.0
// Layers and copies as the report shows them: sums of the kernels below them.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/builder/kernel_rows.h"
#include "analysis/builder/unit_scale.h"
#include "analysis/profile/profile_state.h"
#include "analysis/report/report.h"
#include "analysis/roofline/roofline.h"

namespace gable {

// (device, layer) -> LayerRow::id
using LayerIds = std::map<std::pair<std::int32_t, LayerId>, std::int64_t>;
struct LayerRows {
  std::vector<LayerRow> rows;
  LayerIds ids;
};
// One row per device and layer with launches, and their ancestors; sets `layer` of the kernels and
// sorts them by it.
[[nodiscard]] LayerRows layer_rows(const Profile::State& state, const UnitScale& unit,
                                   const Roofline& roofline, std::vector<KernelOfLayer>& kernels);

// Copies per step or, in reports per run, those of the time windows.
[[nodiscard]] std::vector<CopyRow> copy_rows(const Profile::State& state, const UnitScale& unit,
                                             const LayerIds& ids);

}  // namespace gable

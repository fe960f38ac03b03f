// SPDX-License-Identifier: Apache-2.0
// The parts of the report builder. Internal to analysis/.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/profile/profile_state.h"
#include "analysis/report/report.h"
#include "analysis/roofline/measured_roofs.h"
#include "analysis/roofline/roofline.h"

namespace gable {

// How counts become numbers per unit of the report.
struct UnitScale {
  bool step = false;
  PhaseKind launches_from =
      PhaseKind::off;  // whose kept windows say how many launches a step has; off: all phases
  // Launches per unit, as a fraction: a number and how many windows or steps it is of; or weighed
  // over several classes of steps.
  struct Launches {
    std::uint64_t count = 0, of = 1;
    Maybe weighed = std::nullopt;
    [[nodiscard]] double per_unit() const {
      return weighed.value_or(static_cast<double>(count) / static_cast<double>(of));
    }
  };
  [[nodiscard]] Launches launches(const Profile::State& state, const KeyRow& row) const;
};
[[nodiscard]] UnitScale unit_scale(const Profile::State& state);

// A kernel row and the layer it was launched in.
struct KernelOfLayer {
  LayerId layer = 0;
  std::uint64_t first_seen = 0;
  KernelRow row;
};
// Every key that belongs to the unit, in the order of first launches; roofs not yet applied.
[[nodiscard]] std::vector<KernelOfLayer> kernel_rows(const Profile::State& state,
                                                     const UnitScale& unit);

// The roofs of the devices, which are in the report already, and the SM clocks of counter windows.
void fill_ceilings(const Profile::State& state, const std::vector<KernelOfLayer>& kernels,
                   const StoredRoofs& roofs, Report& report);

// Sentences about roofs that are not as they are expected to be.
[[nodiscard]] std::vector<std::string> ceiling_notes(const Report& report);

using LayerIds =
    std::map<std::pair<std::int32_t, LayerId>, std::int64_t>;  // (device, layer) -> LayerRow::id
struct LayerRows {
  std::vector<LayerRow> rows;
  LayerIds ids;
};
// One row per device and layer with launches, and their ancestors; sets `layer` of the kernels and
// sorts them by it.
[[nodiscard]] LayerRows layer_rows(const Profile::State& state, const UnitScale& unit,
                                   const Roofline& roofline, std::vector<KernelOfLayer>& kernels);

// What the model says of the layers, beside what was measured; fills `model` and
// `flops_over_forward`.
void fill_models(const Profile::State& state, const UnitScale& unit, const Roofline& roofline,
                 LayerRows& layers);

// Most steps have the launches of one in which the model was described.
[[nodiscard]] bool model_steps_are_alike(const Profile::State& state);

// Copies per step; in reports per run, those of the time windows.
[[nodiscard]] std::vector<CopyRow> copy_rows(const Profile::State& state, const UnitScale& unit,
                                             const LayerIds& ids);

// Sentences about how the numbers came about.
[[nodiscard]] std::vector<std::string> number_notes(const Profile::State& state,
                                                    const Report& report);

}  // namespace gable

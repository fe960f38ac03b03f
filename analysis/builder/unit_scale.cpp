// SPDX-License-Identifier: Apache-2.0
#include "analysis/builder/unit_scale.h"

namespace gable {

UnitScale unit_scale(const Profile::State& state) {
  UnitScale unit;
  unit.step = state.classes.steps() > 0;
  if (!unit.step) return unit;
  for (const PhaseKind kind : {PhaseKind::time, PhaseKind::hw, PhaseKind::flops}) {
    if (state.kept_windows[kind_index(kind)] == 0) continue;
    unit.launches_from = kind;
    break;
  }
  return unit;
}

UnitScale::Launches UnitScale::launches(const Profile::State& state, const KeyRow& row) const {
  if (!step) return {row.launches, 1};
  if (launches_from == PhaseKind::off) return {row.launches, state.classes.steps()};
  if (state.classes.places() > 1) return {0, 1, state.launches_per_step(row, launches_from)};
  return {row.window_launches.all(launches_from), state.kept_windows[kind_index(launches_from)]};
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// How counts become numbers per unit of the report: per step or per run.
#pragma once

#include <cstdint>

#include "analysis/base/maybe.h"
#include "analysis/profile/profile_state.h"

namespace gable {

struct UnitScale {
  bool step = false;
  // Phase whose kept windows tell how many launches a step has; off: all phases.
  PhaseKind launches_from = PhaseKind::off;
  // Launches per unit as a fraction: a number of launches and of windows or steps; or a weighted
  // mean over several classes of steps.
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

}  // namespace gable

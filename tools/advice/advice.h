// SPDX-License-Identifier: Apache-2.0
// What could be done about a program's time. Each item names what was measured that calls for it,
// and the time it could give back at most, by the roofs; items whose saving cannot be told come
// last, and an item whose trigger was not measured is not given. Savings of different items may be
// of the same kernels: they do not add up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

inline constexpr double kLeastShare = 0.02;  // of the unit's time: below it nothing is advised

// A layer or a kernel that an item is about, longest saving (else time) first.
struct AdvicePlace {
  std::string name;  // the layer's shown path, or the kernel's function
  Direction direction = Direction::none;
  std::int32_t device = 0;
  double time_ns = 0;
  double saving_ns = 0;  // of this place, at most
};

struct Advice {
  std::string id;       // "tensor_cores", "fuse" …: stable, for scripts and tests
  std::string action;   // what to do and what to type for it; then where, the first three of each
  std::string trigger;  // what was measured
  Maybe saving_ns;      // per unit of the report, at most, and never more than that takes
  std::vector<AdvicePlace> layers = {};   // none where the kernels have no layer
  std::vector<AdvicePlace> kernels = {};  // by function
};

// Largest saving first.
[[nodiscard]] std::vector<Advice> advise(const Report& report);

}  // namespace gable

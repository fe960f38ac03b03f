// SPDX-License-Identifier: Apache-2.0
// Advice on how to make a program faster. Each item names the measurement behind it and an upper
// bound of the time it could save, by the roofs. Items of unknown saving come last; an item whose
// trigger was not measured is not given. Different items may concern the same kernels, so savings
// do not add up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

inline constexpr double kLeastShare = 0.02;  // of the unit's time; below it no advice

// A layer or a kernel that an item is about; those with the largest saving, else time, come first.
struct AdvicePlace {
  std::string name;  // the layer's shown path, or the kernel's function
  Direction direction = Direction::none;
  std::int32_t device = 0;
  double time_ns = 0;
  double saving_ns = 0;  // upper bound for this place
};

struct Advice {
  std::string id;       // "tensor_cores", "fuse" …: stable, for scripts and tests
  std::string action;   // what to do and what to type
  std::string trigger;  // what was measured
  Maybe saving_ns;      // upper bound per unit of the report, at most the unit's time (without a
                    // step's time: what kernels and copies take, or the host if it takes longer)
  std::vector<AdvicePlace> layers = {};   // empty if the kernels have no layer
  std::vector<AdvicePlace> kernels = {};  // by function
  std::string where = {};                 // the first three of them, in sentences
  // What to do, and where.
  [[nodiscard]] std::string text() const { return where.empty() ? action : action + " " + where; }
};

// The advice for a report, largest saving first.
[[nodiscard]] std::vector<Advice> advise(const Report& report);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Several runs of the baseline and several of what is checked.
#pragma once

#include <string>
#include <vector>

#include "tools/compare/compare.h"

namespace gable {

// The runs of a side and their names in sentences; at least one, and equally many of both.
struct SideRuns {
  std::vector<const Report*> reports;
  std::vector<std::string> names;
};

// As `compare`, with means over the runs of each side that know a number, and the ranges within the
// sides. Layers are those of each side's first run. Whatever prevents comparing a run with the
// first of its side is an obstacle. Kernels are left out if a side has several runs.
[[nodiscard]] Comparison compare_runs(const SideRuns& a, const SideRuns& b);

}  // namespace gable

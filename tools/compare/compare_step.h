// SPDX-License-Identifier: Apache-2.0
// The step of two reports: the only place of this folder that reads a report's `step`.
#pragma once

#include <vector>

#include "analysis/report/report.h"
#include "tools/compare/compared.h"

namespace gable {

struct ComparedStep {
  Compared wall_ns, idle_ns;
  Compared exposed_ns;  // communication that nothing hides
  // wall_ns is the host's time from border to border, because a side knows no other. One side's
  // time on the GPU is never compared with the other's on the host.
  bool on_host = false;
  Compared gpu_ns;  // on the GPU, whatever is compared
  Maybe noise_ns;   // of both, as ComparedRow::noise_ns; idle time has no spread of its own
  Maybe wall_range, idle_range, exposed_range;  // as RunRanges
};

// Means over the runs of each side that know the number. Without steps nothing is known.
[[nodiscard]] ComparedStep compare_steps(const std::vector<const Report*>& a,
                                         const std::vector<const Report*>& b);

}  // namespace gable

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
  Compared waits_ns;    // the host's time from waits to its next launch: PathTimes::waits_ns
  // wall_ns is the host's time from border to border, because one side has no other. A GPU time is
  // never compared with a host time.
  bool on_host = false;
  Compared gpu_ns;  // GPU time, whatever is compared
  Maybe noise_ns;   // of both, as ComparedRow::noise_ns; idle time has none
  Maybe wall_range, idle_range, exposed_range;  // as RunRanges
};

// Compares means over each side's runs that know a number. Without steps all is unknown.
[[nodiscard]] ComparedStep compare_steps(const std::vector<const Report*>& a,
                                         const std::vector<const Report*>& b);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Of the reports of a job's ranks, the one with the most work: the others wait for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

struct SlowestRank {
  std::size_t place = 0;            // among the reports
  double time_ns = 0, mean_ns = 0;  // of kernels but communication, per unit: its own, all ranks'
};
// Empty unless each report is of a rank of its own and has times per the same unit.
[[nodiscard]] std::optional<SlowestRank> slowest_rank(const std::vector<Report>& reports);

// "Without communication kernels take 1.40 ms a step on rank 37, the longest, and 1.10 ms on
// average: the others wait for it." Empty where nothing is known of ranks.
[[nodiscard]] std::string ranks_line(const std::vector<Report>& reports);

}  // namespace gable

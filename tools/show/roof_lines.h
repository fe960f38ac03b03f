// SPDX-License-Identifier: Apache-2.0
// The table's lines about the roofs behind its fractions.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Nothing where roofs are theoretical and at the highest clock, or within 1 % of it; else a line
// about roofs that were measured, one about those that CUPTI stated, and one about the clock of
// those that were not measured.
[[nodiscard]] std::vector<std::string> roof_lines(const std::vector<Report>& reports);

}  // namespace gable

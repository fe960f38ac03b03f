// SPDX-License-Identifier: Apache-2.0
// The table's line about the roofs behind its fractions.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// "Roofs: …": those that `gable ceilings` measured or CUPTI stated by their names, whose figures
// the others are, and the clock of those that are computed. Empty for no reports.
[[nodiscard]] std::string roofs_line(const std::vector<Report>& reports);

}  // namespace gable

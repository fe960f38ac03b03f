// SPDX-License-Identifier: Apache-2.0
// The roofline chart as a picture for other programs.
#pragma once

#include <string>
#include <vector>

#include "tools/export/export.h"

namespace gable {

// The roofline chart, drawn without a browser: log-log, roofs with name and value, a point for each
// row with area = share of the time; points without a FLOP in a strip at the left edge.
[[nodiscard]] std::string export_svg(const std::vector<Report>& reports,
                                     const std::vector<std::string>& names,
                                     const ExportOptions& options);

}  // namespace gable

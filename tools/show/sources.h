// SPDX-License-Identifier: Apache-2.0
// Where the numbers of reports come from, for titles and first lines.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Each source once: playback, import, predicted, then cupti.
[[nodiscard]] std::vector<std::string> sources_of(const std::vector<Report>& reports);

// "[playback] [import] ", to stand in front of a line; nothing for hardware.
[[nodiscard]] std::string source_mark(const std::vector<Report>& reports);

}  // namespace gable

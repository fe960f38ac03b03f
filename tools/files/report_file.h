// SPDX-License-Identifier: Apache-2.0
// Reports on disk.
#pragma once

#include <string>

#include "analysis/report/report_json_read.h"

namespace gable {

// Reads a report. Never throws; the error names the file.
[[nodiscard]] ParsedReport read_report_file(const std::string& path);

}  // namespace gable

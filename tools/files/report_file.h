// SPDX-License-Identifier: Apache-2.0
// Reports on disk.
#pragma once

#include <string>

#include "analysis/report/report_json_read.h"

namespace gable {

// As write_text_file(). Empty when it worked, else a sentence. Never throws.
[[nodiscard]] std::string write_report_file(const Report& report, const std::string& path);

// Never throws; the error names the file.
[[nodiscard]] ParsedReport read_report_file(const std::string& path);

}  // namespace gable

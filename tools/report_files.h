// SPDX-License-Identifier: Apache-2.0
// Reports read from files, and the table of them.
#pragma once

#include <string>
#include <vector>

#include "analysis/report.h"

namespace gable {

struct ReportFiles {
  std::vector<Report> reports;
  std::vector<std::string> paths;     // of the reports, in the same order
  std::vector<std::string> problems;  // one sentence for each file that could not be read
};

[[nodiscard]] ReportFiles read_reports(const std::vector<std::string>& paths);

[[nodiscard]] std::string table_of(const ReportFiles& files);

}  // namespace gable

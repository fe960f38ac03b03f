// SPDX-License-Identifier: Apache-2.0
#include "tools/report_files.h"

namespace gable {

ReportFiles read_reports(const std::vector<std::string>& paths) {
  ReportFiles files;
  files.paths = paths;
  return files;
}

std::string table_of(const ReportFiles&) { return {}; }

}  // namespace gable

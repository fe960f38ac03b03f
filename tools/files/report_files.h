// SPDX-License-Identifier: Apache-2.0
// Reports read from files, and the table of them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/plot/row_query.h"

namespace gable {

struct ReportFiles {
  std::vector<Report> reports;
  std::vector<std::string> paths;     // of the reports, in the same order
  std::vector<std::string> problems;  // one sentence for each file that could not be read
};

// Refuses a file that is named twice, also by a link: its work would count twice. `what` is the
// word for it, "report".
void check_each_once(const std::vector<std::string>& paths, const std::string& what);

[[nodiscard]] ReportFiles read_reports(const std::vector<std::string>& paths);

// The width of the terminal that standard output (or standard error) goes to, and whether it takes
// colours; as they were where it goes to none.
void fit_terminal(std::size_t& columns, bool& colours, bool standard_error = false);

enum class After { profile, report };  // where the table stands: standard error, standard output

// As wide as the terminal it goes to, with colours unless NO_COLOR is set; 100 columns without
// colours where it goes to none. Ends with the next command to type.
[[nodiscard]] std::string table_of(const ReportFiles& files, After after,
                                   const RowQuery& query = {}, std::size_t rows = 10);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Reports read from files, and their table.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/plot/row_query.h"

namespace gable {

struct ReportFiles {
  std::vector<Report> reports;
  std::vector<std::string> paths;     // files of the reports, in the same order
  std::vector<std::string> problems;  // one sentence for each file that could not be read
  std::string glob = {};              // what a shell expands to these paths; empty: unknown
};

// Refuses a file that is named twice, also by a link: its work would count twice. `what` is the
// word for it, "report".
void check_each_once(const std::vector<std::string>& paths, const std::string& what);

[[nodiscard]] ReportFiles read_reports(const std::vector<std::string>& paths);

// If each report is of a rank of its own, puts them in the order of the ranks.
void sort_by_rank(ReportFiles& files);

// Leaves the newest report of each process that was measured several times: the newest of those
// that measured anything, if there is one. Returns the paths of the others, in their order.
[[nodiscard]] std::vector<std::string> take_out_earlier_queues(ReportFiles& files);

// Sets the width and colour support of the terminal on standard output (or standard error); leaves
// them unchanged without a terminal.
void fit_terminal(std::size_t& columns, bool& colours, bool standard_error = false);

enum class After { profile, report };  // where the table goes: standard error, standard output

// The table, as wide as its terminal, with colours unless NO_COLOR is set or TERM is dumb; 100
// columns without colours if there is no terminal. Ends with the next command to type.
[[nodiscard]] std::string table_of(const ReportFiles& files, After after,
                                   const RowQuery& query = {}, std::size_t rows = 10);

// The table of a job: if each report is of a rank of its own, one row a layer, of the means over
// the ranks, which rank is the slowest, and what only other ranks than the first have to say.
[[nodiscard]] std::string table_of_job(const ReportFiles& files, After after);

}  // namespace gable

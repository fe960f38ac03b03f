// SPDX-License-Identifier: Apache-2.0
// Reports as a table for a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/plot/row_query.h"

namespace gable {

struct TableOptions {
  std::size_t columns = 100;  // no line is wider
  std::size_t rows = 10;
  std::string next_command;   // shown last; empty: no such line
  bool colours = false;       // ANSI codes, for terminals
  std::size_t advice = 3;     // items of advice, of a single report
  std::size_t notes = 3;      // the first ones
  bool printed_notes = true;  // also those that the processes have printed themselves
  RowQuery query;
};

// One table of all reports (of the processes of one command). Its first line is about the whole
// program; then, unless asked for others, the rows with the largest saving (the longest ones where
// no saving is known); then what was lost or is unknown; then the next command. Rows are layers by
// their own work, kernels of their children excluded, so that no work is shown twice; where a
// report has only one such layer they are kernels. What is unknown is "-", never 0.
[[nodiscard]] std::string render_table(const std::vector<Report>& reports,
                                       const TableOptions& options = {});

// The last lines of such a table alone: the notes.
[[nodiscard]] std::string render_notes(const std::vector<Report>& reports,
                                       const TableOptions& options);

}  // namespace gable

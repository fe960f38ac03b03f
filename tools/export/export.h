// SPDX-License-Identifier: Apache-2.0
// Reports as files for other programs. Rows are those of tools/plot/plot.h, the same that the
// page's chart shows; what is unknown is an empty cell, never 0. Every format says where the
// numbers come from: playback and import are named in it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/plot/row_query.h"

namespace gable {

struct ExportOptions {
  RowQuery query;
  std::size_t rows = 0;      // rows per report; 0: all
  std::string picture = {};  // the chart that Markdown shows, as its text names it; empty: none
};

// CSV by RFC 4180 with one header line and all digits; `names` has a name for each report.
[[nodiscard]] std::string export_csv(const std::vector<Report>& reports,
                                     const std::vector<std::string>& names,
                                     const ExportOptions& options);

// For a pull request or a ticket, rounded for people: what a step is, the three items that would
// help most, and the rows of the terminal's table, equal layers as one ("x12").
[[nodiscard]] std::string export_markdown(const std::vector<Report>& reports,
                                          const std::vector<std::string>& names,
                                          const ExportOptions& options);

// A cell of a Markdown table: the text on one line; a name cannot end its cell or become markup.
[[nodiscard]] std::string markdown_cell(const std::string& text);

// A row's saving: "817 us to 1.63 ms" of the step where steps were replayed, else of kernels' time.
[[nodiscard]] std::string saving_text(const LayerRow& row);

// The text with what could become markup escaped.
[[nodiscard]] std::string markdown_text(const std::string& text);

// plot_rows with the limit of the options.
struct PlotRow;
[[nodiscard]] std::vector<PlotRow> exported_rows(const Report& report,
                                                 const ExportOptions& options);

}  // namespace gable

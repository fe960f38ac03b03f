// SPDX-License-Identifier: Apache-2.0
// What all formats share.
#include "analysis/base/display.h"
#include "tools/export/export.h"
#include "tools/plot/plot.h"

namespace gable {

std::vector<PlotRow> exported_rows(const Report& report, const ExportOptions& options) {
  std::vector<PlotRow> rows = plot_rows(report, options.query);
  if (options.rows > 0 && rows.size() > options.rows) rows.resize(options.rows);
  return rows;
}

std::string markdown_cell(const std::string& text) {
  std::string out;
  for (const char c : shorten_middle(one_line(text), 120)) {
    if (std::string("|\\`*_<>[]&").find(c) != std::string::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace gable

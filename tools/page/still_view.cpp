// SPDX-License-Identifier: Apache-2.0
#include "tools/page/still_view.h"

#include <algorithm>
#include <cstddef>

#include "analysis/base/display.h"
#include "analysis/base/text.h"
#include "tools/advice/advice.h"
#include "tools/export/export.h"
#include "tools/export/export_svg.h"
#include "tools/plot/plot.h"
#include "tools/show/slowest_rank.h"
#include "tools/show/step_lines.h"

namespace gable {
namespace {

constexpr std::size_t kPoints = 200, kRows = 10, kAdvice = 3, kLongestName = 200,
                      kLongestText = 1000;

// Hides what only scripts fill.
constexpr std::string_view kStyle =
    "<style>main, header, #verdict, #lost { display: none }\n"
    "  .still svg { width: 100%; height: auto; max-width: 1000px }\n"
    "  .still td, .still th { white-space: normal }\n"
    "  .still td:nth-child(-n+2), .still th:nth-child(-n+2) { text-align: left; overflow-wrap: "
    "anywhere }</style>\n";

std::string cells(const char* kind, const std::vector<std::string>& texts) {
  std::string out = "<tr>";
  for (const std::string& text : texts)
    out += std::string("<") + kind + ">" + html_text(text) + "</" + kind + ">";
  return out + "</tr>\n";
}

std::string table(const Report& report) {
  std::vector<PlotRow> rows = plot_rows(report, RowQuery{});
  rows.resize(std::min(rows.size(), kRows));
  std::string out = "<table>\n" + cells("th", {"layer", "direction", "time", "limit", "of roof",
                                               "saving", "work"});
  for (const PlotRow& row : rows) {
    const LayerRow& sum = row.sum;
    out += cells("td", {clean_name(row.name, kLongestName), to_string(row.direction),
                        duration(sum.time_total_ns), to_string(sum.roof.bound),
                        percent(sum.roof.fraction), saving_text(sum),
                        row.analytic      ? "by formula"
                        : sum.flops.total ? "counted"
                                          : "unknown"});
  }
  return out + "</table>\n";
}

// What a step is, and what would help most.
std::string answer(const Report& report) {
  std::string out;
  if (const auto lines = step_lines(report); !lines.empty())
    out += "<p>" + html_text(lines.front()) + "</p>\n";
  const std::vector<Advice> advice = advise(report);
  if (advice.empty()) return out;
  out += "<ol>\n";
  for (std::size_t i = 0; i < std::min(kAdvice, advice.size()); ++i) {
    const Advice& each = advice[i];
    const std::string saving = each.saving_ns ? "up to " + duration(each.saving_ns) + " a " +
                                                    to_string(report.run.unit) + ": "
                                              : std::string();
    out += "<li>" + html_text(clean_name(saving + each.trigger + " " + each.text(), kLongestText)) +
           "</li>\n";
  }
  return out + "</ol>\n";
}

std::string left_out(const Report& report) {
  const std::size_t rows = plot_rows(report, RowQuery{}).size();
  if (rows <= kPoints) return {};
  return "<p>The chart has the " + std::to_string(kPoints) +
         " layers with the largest savings of " + std::to_string(rows) + ".</p>\n";
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string still_view(const std::vector<Report>& reports, const std::vector<std::string>& files) {
  ExportOptions options;
  options.rows = kPoints;
  std::string out = std::string(kStyle) + "<div class=\"still\">\n" +
                    "<p>Without JavaScript this page stands still: gable report FILE has all "
                    "rows.</p>\n" +
                    export_svg(reports, files, options);
  if (const std::string ranks = ranks_line(reports); !ranks.empty())
    out += "<p>" + html_text(ranks) + "</p>\n";
  const auto slowest = slowest_rank(reports);  // of ranks it alone has the answer
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (slowest && i != slowest->place) continue;
    if (reports.size() > 1)
      out += "<h2>" + html_text(clean_name(files[i], kLongestName)) + "</h2>\n";
    out += left_out(reports[i]) + answer(reports[i]) + table(reports[i]);
  }
  return out + "</div>\n";
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/display.h"
#include "tools/compare/compare_output.h"
#include "tools/export/export.h"
#include "tools/files/report_output.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

std::string gates_of(const GateOptions& options) {
  std::string text;
  for (const Gated what : options.what) text += (text.empty() ? "" : ", ") + gated_name(what);
  return text;
}

std::string verdict_of(const GateResult& result) {
  if (!result.obstacles.empty()) return "no comparison is possible";
  if (const std::size_t worse = result.count(GateVerdict::worse); worse > 0)
    return std::to_string(worse) + " worse";
  return "nothing is worse";
}

}  // namespace

std::string check_summary(const GateResult& result, const GateOptions& options) {
  std::string text = std::to_string(result.compared) + " numbers compared (" + gates_of(options) +
                     "), " + std::to_string(result.count(GateVerdict::worse)) +
                     " worse by more than " + gate_text(options.percent);
  if (const auto unclear = result.count(GateVerdict::unclear); unclear > 0)
    text += ", " + std::to_string(unclear) + " beyond it but within the noise";
  if (const auto unknown = result.count(GateVerdict::unknown); unknown > 0)
    text += ", " + std::to_string(unknown) + " no longer known";
  if (result.small > 0)
    text += "; " + std::to_string(result.small) + " layers below 0.1 % of the time left out";
  return text + ".";
}

std::string check_markdown(const ReportFiles& files, const Comparison& comparison,
                           const GateResult& result, const GateOptions& options) {
  const std::vector<std::string> names = file_names(files);
  std::string out = "### " + source_mark(files.reports) + "gable check: " + verdict_of(result) +
                    "\n\n" + markdown_cell(names[1]) + " against " + markdown_cell(names[0]) + "\n";
  if (!result.obstacles.empty()) out += "\n";
  for (const std::string& text : result.obstacles) out += "- " + markdown_cell(text) + "\n";
  if (!result.findings.empty())
    out +=
        "\n| | layer | direction | what | baseline | now | change |\n"
        "|---|---|---|---|--:|--:|--:|\n";
  for (const GateFinding& finding : result.findings) {
    const char* verdict = finding.verdict == GateVerdict::worse     ? "worse"
                          : finding.verdict == GateVerdict::unclear ? "within the noise"
                                                                    : "no longer known";
    out += std::string("| ") + verdict + " | " + markdown_cell(finding.name) + " | " +
           finding.direction + " | " + gated_name(finding.what) + " | " +
           shown_value(finding.values.a, finding.what) + " | " +
           shown_value(finding.values.b, finding.what) + " | " +
           signed_percent(finding.values.change()) + " |\n";
  }
  if (result.obstacles.empty()) out += "\n" + check_summary(result, options) + "\n";
  for (const std::string& text : comparison.remarks) out += "\n" + markdown_cell(text) + "\n";
  return out;
}

}  // namespace gable

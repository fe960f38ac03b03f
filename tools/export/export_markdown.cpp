// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/display.h"
#include "analysis/roofline/partial_sum.h"
#include "tools/export/export.h"
#include "tools/plot/plot.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9;

Maybe in(const Maybe& value, double unit) { return value ? Maybe(*value / unit) : std::nullopt; }

std::string total_text(const Report& report) {
  const auto& total = report.run.total;
  PartialSum flops, bytes, time;
  flops.add(total.flops, coverage_of(report, &Coverage::flops));
  bytes.add(total.bytes_dram, coverage_of(report, &Coverage::bytes));
  time.add(total.gpu_time_ns, coverage_of(report, &Coverage::time));
  return flops.text("FLOP") + ", " + bytes.text("B") + " DRAM, " + time.time_text() + " GPU (" +
         total.basis + ")";
}

// A sum of which a part is unknown says so.
std::string time_text(const LayerRow& row) {
  PartialSum time;
  time.add(row.time_total_ns, row.coverage.time.value_or(1));
  return time.time_text();
}

std::string row_text(const PlotRow& row, const RowQuery& query) {
  const AtLevel level = at_level(row.sum, query.level);
  std::string text = "| " + markdown_cell(row.name) + " | " + row.direction;
  for (const std::string& each :
       {percent(row.share), time_text(row.sum), digits(in(row.sum.flops_per_s, kTera)),
        digits(in(level.bytes_per_s, kGiga)), digits(level.intensity), row.sum.roof.bound,
        percent(row.sum.roof.fraction), duration(row.sum.saving_ns)}) {
    text += " | " + markdown_cell(each);
  }
  return text + (row.analytic ? " | analytic |\n" : " | counted |\n");
}

}  // namespace

std::string export_markdown(const std::vector<Report>& reports,
                            const std::vector<std::string>& names, const ExportOptions& options) {
  std::string out;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    const std::string level = options.query.level == "dram" ? "" : " " + options.query.level;
    out += (out.empty() ? "**" : "\n**") + source_mark({report}) + markdown_cell(names[i]) +
           "**: " + markdown_cell(total_text(report)) + "; times and savings per " +
           markdown_cell(report.run.unit) + "\n\n";
    out += std::string(options.query.kernels ? "| kernel" : "| layer") + " | direction | share" +
           (time_of_shares({report}) == "time" ? "" : " of the known time") +
           " | time | TFLOP/s | GB/s" + level + " | FLOP/B" + level +
           " | bound | of roof | saving | work |\n|---|---|--:|--:|--:|--:|--:|---|--:|--:|---|\n";
    for (const PlotRow& row : exported_rows(report, options)) out += row_text(row, options.query);
  }
  return out + "\n`-` is unknown.\n";
}

}  // namespace gable

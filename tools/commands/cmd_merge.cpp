// SPDX-License-Identifier: Apache-2.0
// gable merge: the reports of a job's processes as one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "analysis/base/display.h"
#include "analysis/events/layer_tree.h"
#include "analysis/report/report_json.h"
#include "tools/commands/command.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"
#include "tools/merge/merge.h"
#include "tools/merge/waiting.h"
#include "tools/show/columns.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

// Layers whose ranks differ most, by the time that they wait for the slowest.
std::string spread_table(const Report& report, std::size_t columns, bool colours) {
  constexpr std::size_t kMost = 8;
  std::vector<const LayerRow*> rows;
  for (const LayerRow& row : report.layers) {
    if (row.spread && row.spread->gpus > 1 && row.time_self_ns.value_or(0) > 0)
      rows.push_back(&row);
  }
  const auto above = [](const LayerRow* row) { return row->spread->max_ns - row->spread->mean_ns; };
  std::stable_sort(rows.begin(), rows.end(),
                   [&](const LayerRow* a, const LayerRow* b) { return above(a) > above(b); });
  if (rows.size() > kMost) rows.resize(kMost);
  if (rows.empty()) return {};
  std::vector<Column> table;
  const auto add = [&](const char* head, bool left, auto cell) {
    Column& column = table.emplace_back(Column{head, left, {}, {}});
    for (const LayerRow* row : rows) column.cells.push_back(cell(*row));
  };
  add("layer", true, [](const LayerRow& row) { return one_line(shown_path(row.path)); });
  add("direction", true, [](const LayerRow& row) { return to_string(row.direction); });
  add("GPUs", false, [](const LayerRow& row) { return std::to_string(row.spread->gpus); });
  add("least", false, [](const LayerRow& row) { return duration(row.spread->min_ns); });
  add("mean", false, [](const LayerRow& row) { return duration(row.spread->mean_ns); });
  add("most", false, [](const LayerRow& row) { return duration(row.spread->max_ns); });
  add("slowest", true, [&](const LayerRow& row) {
    const auto place = static_cast<std::size_t>(row.spread->slowest);
    return process_name(report.run.processes.at(place));
  });
  return "\nLayers that differ most between GPUs, by longest - mean; time per " +
         to_string(report.run.unit) + ":\n" +
         render_columns(std::move(table), rows.size(), columns, colours);
}

class MergeCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("FILE", files_)->required();
    app.add_option("-o,--output", output_)->type_name("OUT")->required();
  }

  int run() override {
    // Kept until the process ends: taking down what many ranks wrote, text by text, is a fifth of
    // the time.
    static const ReportFiles& files = *new ReportFiles(read_reports(files_));
    if (!files.problems.empty()) throw WrongUse(files.problems.front());
    if (files.reports.size() < 2) throw WrongUse("gable merge takes two reports or more.");
    const Merged merged = merge_reports(files.reports, files.paths);
    if (!merged.report) throw WrongUse(merged.error);
    write_output(files, to_json(*merged.report), output_);
    std::FILE* where = output_ == "-" ? stderr : stdout;
    std::size_t columns = 100;
    bool colours = false;
    fit_terminal(columns, colours, output_ == "-");
    const RunInfo& run = merged.report->run;
    print_line(where, source_mark({*merged.report}) + std::to_string(files.reports.size()) +
                          " processes merged into " + output_ + ".");
    if (!run.notes.empty() && run.notes.back().starts_with("The slowest"))
      print_line(where, run.notes.back());
    if (const std::string text = waiting_sentence(*merged.report); !text.empty())
      print_line(where, text);
    std::fputs(spread_table(*merged.report, columns, colours).c_str(), where);
    return kExitGood;
  }

 private:
  std::vector<std::string> files_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_merge_command() { return std::make_unique<MergeCommand>(); }

}  // namespace gable

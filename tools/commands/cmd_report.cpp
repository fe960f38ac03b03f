// SPDX-License-Identifier: Apache-2.0
// gable report: the table of finished reports, or of a snapshot of a running program, and files
// made of them.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <system_error>

#include "tools/commands/command.h"
#include "tools/export/export.h"
#include "tools/export/export_svg.h"
#include "tools/export/export_trace.h"
#include "tools/export/summary.h"
#include "tools/files/layer_option.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"
#include "tools/plot/plot.h"
#include "tools/show/memory_table.h"
#include "tools/show/operators_table.h"

namespace gable {
namespace {

const std::map<std::string, SortBy> kSorts = {
    {"saving", SortBy::saving}, {"time", SortBy::time},   {"fraction", SortBy::fraction},
    {"flops", SortBy::flops},   {"bytes", SortBy::bytes}, {"name", SortBy::name}};

class ReportCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("FILE", files_)->required();
    app.add_option("--top", top_)->type_name("N")->check(CLI::Range(1, 1000000));
    app.add_option("--sort", sort_)->type_name("saving|time|fraction|flops|bytes|name");
    app.add_option("--layer", layers_)->type_name("PATTERN")->allow_extra_args(false);
    app.add_option("--depth", query_.depth)->type_name("N")->check(CLI::Range(0, 1000));
    app.add_flag("--each", query_.each);
    app.add_flag("--kernels", query_.kernels);
    app.add_flag("--operators", operators_);
    app.add_flag("--memory", memory_);
    app.add_option("--level", level_)->type_name("dram|l2|l1");
    app.add_option("--html", html_)->type_name("OUT");
    app.add_option("--svg", svg_)->type_name("OUT");
    app.add_option("--csv", csv_)->type_name("OUT");
    app.add_option("--markdown", markdown_)->type_name("OUT");
    app.add_option("--json-summary", summary_)->type_name("OUT");
    app.add_option("--trace", trace_)->type_name("OUT");
  }

  int run() override {
    check_options();
    if (!trace_.empty()) return write_trace();
    remarks_ = place_of_remarks({{"--html", html_},
                                 {"--svg", svg_},
                                 {"--csv", csv_},
                                 {"--markdown", markdown_},
                                 {"--json-summary", summary_}});
    check_each_once(files_, "report");
    const ReportFiles files = read_reports(files_);
    // A table of some of the files would look like one of all.
    if (!files.problems.empty()) throw WrongUse(files.problems.front());
    if (operators_) return show_operators(files);
    if (memory_) return show_memory(files);
    check_layers(files);
    if (!html_.empty()) write_page(files, html_, remarks_);
    write(files, csv_, export_csv, 0);
    write(files, svg_, export_svg, 0);
    write(files, markdown_, export_markdown, kTop);
    write(files, summary_, summary, kTop);
    if (!has_output()) {
      const std::string table = table_of(files, After::report, query_, top_ > 0 ? top_ : kTop);
      std::fwrite(table.data(), 1, table.size(), stdout);
    }
    return kExitGood;
  }

 private:
  static constexpr std::size_t kTop = 10;

  int show_operators(const ReportFiles& files) const {
    OperatorsTable options;
    options.rows = top_ > 0 ? top_ : kTop;
    options.layers = query_.layers;
    options.each = query_.each;
    fit_terminal(options.columns, options.colours);
    const std::string table = render_operators(files.reports, options);
    if (table.empty())
      throw WrongUse(query_.layers.empty()
                         ? "There are no operators in " + files_.front() +
                               ": PyTorch's model was not described, and a note in the report may "
                               "say why."
                         : "--layer '" + layers_.front() + "' matches no layer with operators.");
    std::fwrite(table.data(), 1, table.size(), stdout);
    return kExitGood;
  }

  int show_memory(const ReportFiles& files) const {
    MemoryTable options;
    options.rows = top_ > 0 ? top_ : kTop;
    options.each = query_.each;
    fit_terminal(options.columns, options.colours);
    const std::string table = render_memory(files.reports, file_names(files), options);
    if (table.empty())
      throw WrongUse("What holds memory is not known in " + files_.front() +
                     ": profile a PyTorch program with gable profile --memory.");
    std::fwrite(table.data(), 1, table.size(), stdout);
    return kExitGood;
  }

  void check_options() {
    const auto sort = kSorts.find(sort_);
    if (sort == kSorts.end())
      throw WrongUse("--sort takes saving, time, fraction, flops, bytes or name, not '" + sort_ +
                     "'.");
    query_.sort = sort->second;
    const auto level = value_of<MemoryLevel>(level_);
    if (!level) throw WrongUse("--level takes dram, l2 or l1, not '" + level_ + "'.");
    query_.level = *level;
    query_.layers = layer_patterns(layers_);
    const bool files = has_output();
    if (operators_ && (files || query_.kernels || query_.depth || memory_))
      throw WrongUse("--operators is a table of its own: with --layer, --each and --top alone.");
    if (memory_ && (files || query_.kernels || query_.depth || !layers_.empty()))
      throw WrongUse("--memory is a table of its own: with --each and --top alone.");
    const bool rows_of_a_chart =
        !html_.empty() || !csv_.empty() || !svg_.empty() || !markdown_.empty();
    if (query_.depth && (rows_of_a_chart || query_.kernels))
      throw WrongUse(
          "--depth applies to the table's layers: leave out --kernels and output files.");
  }

  [[nodiscard]] bool has_output() const {
    return !html_.empty() || !csv_.empty() || !svg_.empty() || !markdown_.empty() ||
           !summary_.empty();
  }

  static std::string summary(const std::vector<Report>& reports,
                             const std::vector<std::string>& names, const ExportOptions& options) {
    return export_summary(reports, names, options.query, options.rows);
  }

  void check_layers(const ReportFiles& files) const {
    if (query_.layers.empty()) return;
    for (const Report& report : files.reports) {
      if (!plot_rows(report, query_).empty()) return;
    }
    throw WrongUse("--layer '" + layers_.front() +
                   "' matches no layer with kernels; patterns are globs over paths as the table "
                   "shows them.");
  }

  using Export = std::string (*)(const std::vector<Report>&, const std::vector<std::string>&,
                                 const ExportOptions&);
  void write(const ReportFiles& files, const std::string& path, Export make, std::size_t rows) {
    if (path.empty()) return;
    write_output(
        files, make(files.reports, file_names(files), {query_, top_ > 0 ? top_ : rows, picture()}),
        path);
    if (path != "-") print_line(remarks_, "Written: " + path);
  }

  // The chart as the Markdown's reader finds it: from the folder of its file.
  [[nodiscard]] std::string picture() const {
    if (svg_.empty() || svg_ == "-") return {};
    const std::filesystem::path folder =
        markdown_ == "-" ? "" : std::filesystem::path(markdown_).parent_path();
    std::error_code failed;
    const std::filesystem::path from_there =
        std::filesystem::proximate(svg_, folder.empty() ? "." : folder, failed);
    return failed ? svg_ : from_there.string();
  }

  // Times of single launches are in recordings alone: reports have their means.
  int write_trace() {
    if (files_.size() != 1 || has_output())
      throw WrongUse(
          "--trace takes one recording, and no other output: gable report REC --trace OUT.");
    const RecordingResult read = read_recording(files_.front());
    if (read.recording == nullptr)
      throw WrongUse("--trace takes a recording, not a report: " + read.error);
    const Timeline timeline = timeline_of(*read.recording, kMostEvents);
    if (timeline.cut) {
      say("The recording is longer than the trace, which ends after " +
          std::to_string(kMostEvents) + " events.");
    }
    write_output({{}, files_, {}}, export_trace(*read.recording, timeline), trace_);
    if (trace_ != "-") print_line(stdout, "Written: " + trace_ + " (open it in ui.perfetto.dev)");
    return kExitGood;
  }

  static constexpr std::size_t kMostEvents = 500000;
  std::vector<std::string> files_, layers_;
  RowQuery query_;
  std::string level_ = "dram", sort_ = "saving";
  std::size_t top_ = 0;
  bool operators_ = false, memory_ = false;
  std::FILE* remarks_ = stdout;
  std::string html_, svg_, csv_, markdown_, summary_, trace_;
};

}  // namespace

std::unique_ptr<Command> make_report_command() { return std::make_unique<ReportCommand>(); }

}  // namespace gable

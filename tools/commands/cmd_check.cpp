// SPDX-License-Identifier: Apache-2.0
// gable check: whether a report is worse than a baseline, for continuous integration.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>

#include "tools/commands/chosen_gpus.h"
#include "tools/commands/command.h"
#include "tools/compare/compare_output.h"
#include "tools/compare/compare_runs.h"
#include "tools/compare/gate.h"
#include "tools/compare/same_device.h"
#include "tools/files/layer_option.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

constexpr int kExitWorse = 1, kExitNoComparison = 3;

const std::map<std::string, Gated> kWhat = {
    {"step", Gated::step}, {"idle", Gated::idle},        {"exposed", Gated::exposed},
    {"time", Gated::time}, {"dram", Gated::dram},        {"flops", Gated::flops},
    {"roof", Gated::roof}, {"coverage", Gated::coverage}};
constexpr const char* kWhatIsWrong =
    "--what takes step, idle, exposed, time, dram, flops, roof or coverage, or several with commas";

class CheckCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app_ = &app;
    app.add_option("FILE", files_)->required();
    app.add_option("--baseline", baselines_)->type_name("B")->required();
    app.add_option("--gate", options_.percent)->type_name("PCT");
    app.add_option("--what", what_)->type_name("step|idle|exposed|time|dram|flops|roof|coverage");
    app.add_option("--layer", layers_)->type_name("PATTERN")->allow_extra_args(false);
    app.add_option("--markdown", markdown_)->type_name("OUT");
  }

  int run() override {
    check_options();
    // A run is once on a side; that one file is on both is a way to try a gate.
    check_each_once(baselines_, "run of the baseline");
    check_each_once(files_, "run");
    std::vector<std::string> paths = baselines_;
    paths.insert(paths.end(), files_.begin(), files_.end());
    ReportFiles files = read_reports(paths);
    if (!files.problems.empty()) throw WrongUse(files.problems.front());
    take_same_device(files.reports);
    const std::vector<std::string> names = file_names(files);
    SideRuns before, after;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      SideRuns& side = i < baselines_.size() ? before : after;
      side.reports.push_back(&files.reports[i]);
      side.names.push_back(names[i]);
    }
    const Comparison comparison = compare_runs(before, after);
    check_layers(comparison);
    const GateResult result = gate(comparison, options_);
    if (!markdown_.empty())
      write_output(files, check_markdown(files, baselines_.size(), comparison, result, options_),
                   markdown_);
    print(files, comparison, result);
    if (!result.obstacles.empty()) return kExitNoComparison;
    return result.count(GateVerdict::worse) > 0 ? kExitWorse : kExitGood;
  }

 private:
  void check_options() {
    if (!(options_.percent >= 0 && options_.percent <= 10000))
      throw WrongUse("--gate takes a percentage from 0 to 10000.");
    options_.layers = layer_patterns(layers_);
    if (app_->count("--what") == 0) return;
    options_.asked = true;
    options_.what.clear();
    for (const std::string& word : words_between_commas(what_)) {
      const auto found = kWhat.find(word);
      if (found == kWhat.end()) throw WrongUse(std::string(kWhatIsWrong) + ", not '" + word + "'.");
      options_.what.push_back(found->second);
    }
    if (options_.what.empty()) throw WrongUse(std::string(kWhatIsWrong) + ".");
  }

  void check_layers(const Comparison& comparison) const {
    if (options_.layers.empty()) return;
    const bool any = std::any_of(
        comparison.trees.begin(), comparison.trees.end(), [this](const ComparedRow& row) {
          return row.layer_row != nullptr && layer_matches(options_.layers, *row.layer_row);
        });
    if (!any)
      throw WrongUse("--layer '" + layers_.front() +
                     "' matches no layer of the reports; patterns are globs over paths as the "
                     "table shows them.");
  }

  void print(const ReportFiles& files, const Comparison& comparison,
             const GateResult& result) const {
    std::FILE* where = markdown_ == "-" ? stderr : stdout;
    for (const std::string& text : comparison.remarks) print_line(where, "note: " + text);
    if (!result.obstacles.empty()) {
      for (const std::string& text : result.obstacles) print_line(where, "no comparison: " + text);
      return;
    }
    for (const std::string& line : check_lines(result, options_)) print_line(where, line);
    if (files.reports.size() > 2)
      print_line(where, shown_runs(files, baselines_.size(), files.reports.size()) + " against " +
                            shown_runs(files, 0, baselines_.size()) +
                            ": a difference no larger than the one between the runs of one side is "
                            "not a regression.");
    print_line(where, source_mark(files.reports) + check_summary(result, options_));
  }

  CLI::App* app_ = nullptr;
  std::vector<std::string> files_, baselines_, layers_;
  std::string what_, markdown_;
  GateOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// gable check: whether a report is worse than a baseline, for continuous integration.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#include "tools/commands/command.h"
#include "tools/compare/compare_output.h"
#include "tools/compare/gate.h"
#include "tools/files/layer_option.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

constexpr int kExitWorse = 1, kExitNoComparison = 3;

const std::map<std::string, Gated> kWhat = {
    {"time", Gated::time}, {"dram", Gated::dram}, {"flops", Gated::flops}, {"roof", Gated::roof}};

class CheckCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("FILE", file_, "the report")->required();
    app.add_option("--baseline", baseline_, "the report it is held against")
        ->type_name("B")
        ->required();
    app.add_option("--gate", options_.percent, "the change in per cent that is let pass")
        ->type_name("PCT");
    app.add_option("--what", what_, "what may not get worse")->type_name("time|dram|flops|roof");
    app.add_option("--layer", layers_, "layers that are looked at")
        ->type_name("PATTERN")
        ->allow_extra_args(false);
    app.add_option("--markdown", markdown_, "write a summary")->type_name("OUT");
  }

  int run() override {
    check_options();
    const ReportFiles files = read_reports({baseline_, file_});
    if (!files.problems.empty()) throw WrongUse(files.problems.front());
    const Comparison comparison = compare(files.reports[0], files.reports[1]);
    check_layers(comparison);
    const GateResult result = gate(comparison, options_);
    if (!markdown_.empty())
      write_output(files, check_markdown(files, comparison, result, options_), markdown_);
    print(files, comparison, result);
    if (!result.obstacles.empty()) return kExitNoComparison;
    return result.count(GateVerdict::worse) > 0 ? kExitWorse : kExitGood;
  }

 private:
  void check_options() {
    if (!(options_.percent >= 0 && options_.percent <= 10000))
      throw WrongUse("--gate takes a percentage from 0 to 10000.");
    options_.what.clear();
    std::istringstream words(what_);
    for (std::string word; std::getline(words, word, ',');) {
      const auto found = kWhat.find(word);
      if (found == kWhat.end())
        throw WrongUse("--what takes time, dram, flops or roof, or several with commas, not '" +
                       word + "'.");
      options_.what.push_back(found->second);
    }
    if (options_.what.empty()) throw WrongUse("--what takes time, dram, flops or roof.");
    options_.layers = layer_patterns(layers_);
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
    const std::map<GateVerdict, const char*> words = {{GateVerdict::worse, "worse"},
                                                      {GateVerdict::unclear, "unclear"},
                                                      {GateVerdict::unknown, "unknown"}};
    for (const GateFinding& finding : result.findings)
      print_line(where, words.at(finding.verdict) + (": " + finding.line(options_.percent)));
    print_line(where, source_mark(files.reports) + check_summary(result, options_));
  }

  std::string file_, baseline_, what_ = "time", markdown_;
  std::vector<std::string> layers_;
  GateOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_check_command() { return std::make_unique<CheckCommand>(); }

}  // namespace gable

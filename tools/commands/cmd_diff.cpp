// SPDX-License-Identifier: Apache-2.0
// gable diff: two reports side by side.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>

#include "tools/commands/command.h"
#include "tools/compare/compare_output.h"
#include "tools/compare/same_device.h"
#include "tools/files/layer_option.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"

namespace gable {
namespace {

const std::map<std::string, DiffOrder> kOrders = {
    {"change", DiffOrder::change}, {"time", DiffOrder::time}, {"name", DiffOrder::name}};

class DiffCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("A", a_)->required();
    app.add_option("B", b_)->required();
    app.add_option("--top", options_.rows)->type_name("N")->check(CLI::Range(1, 1000000));
    app.add_option("--sort", sort_)->type_name("change|time|name");
    app.add_option("--layer", layers_)->type_name("PATTERN")->allow_extra_args(false);
    app.add_flag("--kernels", options_.kernels);
    app.add_option("--html", html_)->type_name("OUT");
    app.add_option("--json", json_)->type_name("OUT");
    app.add_option("--markdown", markdown_)->type_name("OUT");
  }

  int run() override {
    const auto order = kOrders.find(sort_);
    if (order == kOrders.end())
      throw WrongUse("--sort takes change, time or name, not '" + sort_ + "'.");
    options_.order = order->second;
    options_.layers = layer_patterns(layers_);
    remarks_ = place_of_remarks({{"--html", html_}, {"--json", json_}, {"--markdown", markdown_}});
    ReportFiles files = read_reports({a_, b_});
    if (!files.problems.empty()) throw WrongUse(files.problems.front());
    take_same_device(files.reports);
    const Comparison comparison = compare(files.reports[0], files.reports[1]);
    if (!options_.layers.empty() && diff_rows(comparison, options_).empty())
      throw WrongUse("--layer '" + layers_.front() +
                     "' matches no layer with kernels; patterns are globs over paths as the table "
                     "shows them.");
    if (!html_.empty()) write_page(files, html_, remarks_, diff_json(files, comparison));
    write(files, json_, [&] { return diff_json(files, comparison); });
    write(files, markdown_, [&] { return diff_markdown(files, comparison, options_); });
    if (html_.empty() && json_.empty() && markdown_.empty()) {
      fit_terminal(options_.columns, options_.colours);
      std::fputs(diff_table(files, comparison, options_).c_str(), stdout);
    }
    return kExitGood;
  }

 private:
  template <typename Make>
  void write(const ReportFiles& files, const std::string& path, Make make) const {
    if (path.empty()) return;
    write_output(files, make(), path);
    if (path != "-") print_line(remarks_, "Written: " + path);
  }

  std::string a_, b_, sort_ = "change", html_, json_, markdown_;
  std::vector<std::string> layers_;
  DiffOptions options_;
  std::FILE* remarks_ = stdout;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace gable

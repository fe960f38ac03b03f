// SPDX-License-Identifier: Apache-2.0
// gable diff: two reports side by side, or a plan and a report.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <optional>

#include "analysis/base/input_file.h"
#include "tools/commands/chosen_gpus.h"
#include "tools/commands/command.h"
#include "tools/compare/compare_output.h"
#include "tools/compare/same_device.h"
#include "tools/files/layer_option.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"
#include "tools/plan/plan_against_output.h"

namespace gable {
namespace {

const std::map<std::string, DiffOrder> kOrders = {
    {"change", DiffOrder::change}, {"time", DiffOrder::time}, {"name", DiffOrder::name}};

class DiffCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app_ = &app;
    app.add_option("A", a_)->required();
    app.add_option("B", b_)->required();
    app.add_option("--top", options_.rows)->type_name("N")->check(CLI::Range(1, 1000000));
    app.add_option("--sort", sort_)->type_name("change|time|name");
    app.add_option("--layer", layers_)->type_name("PATTERN")->allow_extra_args(false);
    app.add_flag("--kernels", options_.kernels);
    app.add_option("--html", html_)->type_name("OUT");
    app.add_option("--json", json_)->type_name("OUT");
    app.add_option("--markdown", markdown_)->type_name("OUT");
    app.add_option("--batch", batch_)->type_name("N")->check(CLI::Range(1, 1000000000));
    app.add_option("--gpu,--device", gpu_)->type_name("NAME");
  }

  int run() override {
    const auto order = kOrders.find(sort_);
    if (order == kOrders.end())
      throw WrongUse("--sort takes change, time or name, not '" + sort_ + "'.");
    options_.order = order->second;
    const std::optional<std::string> plan = plan_of(a_), other = plan_of(b_);
    if (plan && other)
      throw WrongUse(
          "Both are plans: gable diff takes a plan and the report of a run, or two "
          "reports.");
    if (plan || other) return against(plan ? *plan : *other, plan ? a_ : b_, plan ? b_ : a_);
    only({"--batch", "--gpu"}, "a plan and a run");
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

  void only(std::initializer_list<const char*> options, const std::string& of) const {
    for (const char* option : options)
      if (app_->count(option) > 0) throw WrongUse(std::string(option) + " is for " + of + ".");
  }

  // The file's text where it is a plan.
  static std::optional<std::string> plan_of(const std::string& path) {
    InputFile file(path, "a report");
    if (!file.error().empty() || !file.is_regular()) return std::nullopt;
    std::optional<std::string> text = file.read_all();
    const bool may_be = text && text->find("\"gable_plan\"") != std::string::npos;
    return may_be && is_plan(*text) ? text : std::nullopt;
  }

  int against(const std::string& text, const std::string& plan_path, const std::string& run_path) {
    only({"--kernels", "--layer", "--html", "--markdown"}, "two reports");
    remarks_ = place_of_remarks({{"--json", json_}});
    const Plan plan = plan_from_json(text, plan_path);
    ReportFiles files = read_reports({run_path});
    if (!files.problems.empty()) throw WrongUse(files.problems.front());
    ChosenGpus gpus;
    if (!gpu_.empty()) gpus.choose({gpu_});
    if (gpus.all().size() > 1) throw WrongUse("--gpu names the run's GPU: one.");
    const PlanAgainstRun both = plan_against_run(plan, files.reports.front(), batch_,
                                                 gpus.all().empty() ? nullptr : gpus.all().front());
    if (!json_.empty()) {
      files.paths.push_back(plan_path);
      write(files, json_, [&] { return against_json(both); });
      return kExitGood;
    }
    AgainstOptions options;
    options.order = options_.order == DiffOrder::time   ? AgainstOrder::time
                    : options_.order == DiffOrder::name ? AgainstOrder::name
                                                        : AgainstOrder::over;
    options.rows = options_.rows;
    fit_terminal(options.columns, options.colours);
    print_line(stdout, against_title(both));
    std::fputs(against_table(both, options).c_str(), stdout);
    for (const std::string& line : against_remarks(both)) print_line(stdout, line);
    return kExitGood;
  }

  CLI::App* app_ = nullptr;
  std::uint64_t batch_ = 0;
  std::string gpu_;
  std::string a_, b_, sort_ = "change", html_, json_, markdown_;
  std::vector<std::string> layers_;
  DiffOptions options_;
  std::FILE* remarks_ = stdout;
};

}  // namespace

std::unique_ptr<Command> make_diff_command() { return std::make_unique<DiffCommand>(); }

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// gable doctor: what works on this machine and why not; a chip's plan of passes.
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>

#include "collector/metrics/plan.h"
#include "collector/options/settings.h"
#include "collector/options/shell_words.h"
#include "tools/commands/command.h"
#include "tools/doctor/doctor_chip.h"
#include "tools/doctor/doctor_elsewhere.h"
#include "tools/doctor/doctor_findings.h"
#include "tools/doctor/doctor_metrics_page.h"
#include "tools/launch/injection.h"
#include "tools/launch/install.h"

namespace gable {
namespace {

constexpr int kExitLimited = 1;
constexpr std::size_t kPartColumns = 11, kStateColumns = 9;

void print_findings(const char* head, const std::vector<Finding>& findings) {
  const auto row = [](std::string part, const std::string& state, const std::string& text) {
    part.resize(std::max(part.size() + 1, kPartColumns), ' ');
    print_wrapped(part + state, kPartColumns + kStateColumns, text);
  };
  row(head, "state", "");
  for (const Finding& finding : findings) row(finding.part, to_string(finding.state), finding.text);
}

class DoctorCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--chip", chip_);
    add_metrics_option(app, settings_);
    app.add_flag("--markdown", markdown_);
    app.add_option("--cupti", cupti_);
    app.add_option("--playback", playback_);
  }

  int run() override {
    if (chip_.empty() && (markdown_ || !settings_.metrics.empty())) {
      throw WrongUse("--metrics and --markdown say what a chip is asked for: name it with --chip.");
    }
    if (markdown_ != (chip_ == "all")) {
      throw WrongUse("The page about all chips is printed by --chip all --markdown.");
    }
    if (markdown_ && !settings_.metrics.empty()) {
      throw WrongUse("--markdown prints the page about all sets; leave --metrics out.");
    }
    prepare_playback();
    return chip_.empty() ? examine_machine() : plan_chip();
  }

 private:
  void prepare_playback() {
    if (playback_.empty()) return;
    const std::string folder = set_playback(playback_);
    // Found by its name from here on, as a machine's own would be.
    if (dlopen((folder + "/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      throw WrongUse("The playback GPU could not be opened: " + std::string(dlerror()) + ".");
    }
    if (cupti_.empty()) cupti_ = folder + "/libcupti.so.13";
  }

  [[nodiscard]] int examine_machine() const {
    const Examination found = examine_elsewhere(cupti_);
    if (!playback_.empty()) {
      std::printf("[playback] This is the playback GPU, not this machine's own.\n\n");
    }
    print_findings("part", found.parts);
    std::printf("\n");
    print_findings("phase", found.phases);
    std::printf("\n");
    const bool limited = found.limited();
    std::printf("%s\n", limited ? "Something is limited here." : "Everything works here.");
    std::printf("Next: %s\n", next_command(found).c_str());
    return limited ? kExitLimited : kExitGood;
  }

  [[nodiscard]] std::string next_command(const Examination& found) const {
    if (!playback_.empty()) return "gable profile --playback " + shell_quoted(playback_);
    if (found.has_gpu || playback_folder().empty()) return "gable profile -- program args";
    return "gable profile --playback REC    (a recording on the playback GPU: needs no GPU)";
  }

  [[nodiscard]] int plan_chip() const {
    return plan_elsewhere(cupti_,
                          [this](const CuptiApi& api, const std::function<void()>& under_way) {
                            return plan_chip(api, under_way);
                          });
  }

  [[nodiscard]] int plan_chip(const CuptiApi& api, const std::function<void()>& under_way) const {
    const std::vector<std::string> known = supported_chips(api);
    if (known.empty()) return kNoAnswer;
    if (markdown_) {
      std::printf("%s", metrics_page(api, known, under_way).c_str());
      return kExitGood;
    }
    std::string chip = chip_;
    std::transform(chip.begin(), chip.end(), chip.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (std::find(known.begin(), known.end(), chip) == known.end()) {
      throw WrongUse("There is no chip '" + chip_ + "' in this CUPTI; --chip takes one of " +
                     joined(known) + ".");
    }
    const MetricPlan plan = plan_metrics(api, chip, settings_.metrics);
    if (plan.passes.empty()) {
      for (const LeftOut& one : plan.left_out) say(one.sentence);
      if (plan.left_out.empty())
        say(chip + " has no counters that Gable can take" +
            (plan.error.empty() ? "." : ": " + plan.error));
      return std::max(kExitLimited, exit_code(plan));
    }
    const auto count = plan.passes.size();
    print_wrapped("", 0,
                  (playback_.empty() ? "" : "[playback] ") + chip + ": " + std::to_string(count) +
                      (count == 1 ? " pass, in" : " passes, each in") +
                      " windows of its own, as planned by " + api.path + " (" + version_of(api) +
                      ").");
    std::printf("\n");
    print_plan(plan);
    return exit_code(plan);
  }

  // Names that are none are bad input; what a chip has but cannot give in one pass is a limit.
  static int exit_code(const MetricPlan& plan) {
    int code = kExitGood;
    for (const LeftOut& one : plan.left_out)
      code = std::max(code, one.exists ? kExitLimited : kExitWrongUse);
    return code;
  }

  std::string chip_, cupti_, playback_;
  bool markdown_ = false;
  Settings settings_;  // of which --metrics
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace gable

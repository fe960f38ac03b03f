// SPDX-License-Identifier: Apache-2.0
// gable doctor: what works on this machine and why not; a chip's plan of passes.
#include <dlfcn.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>

#include "analysis/quantities.h"
#include "collector/plan.h"
#include "collector/shell_words.h"
#include "tools/command.h"
#include "tools/doctor_findings.h"
#include "tools/injection.h"
#include "tools/install.h"

namespace gable {
namespace {

constexpr int kExitLimited = 1;
constexpr std::size_t kColumns = 100, kPartColumns = 11, kStateColumns = 9;

// Broken between words; a path stays whole however long it is, so that it can be copied.
void print_wrapped(const std::string& first, std::size_t indent, const std::string& text) {
  std::string line = first;
  if (!text.empty()) line.resize(std::max(line.size(), indent), ' ');
  std::istringstream words(text);
  bool empty = true;
  for (std::string word; words >> word; empty = false) {
    if (!empty && line.size() + 1 + word.size() > kColumns) {
      std::printf("%s\n", line.c_str());
      line.assign(indent, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
  }
  std::printf("%s\n", line.c_str());
}

void print_findings(const char* head, const std::vector<Finding>& findings) {
  const auto row = [](std::string part, const std::string& state, const std::string& text) {
    part.resize(std::max(part.size() + 1, kPartColumns), ' ');
    print_wrapped(part + state, kPartColumns + kStateColumns, text);
  };
  row(head, "state", "");
  for (const Finding& finding : findings) row(finding.part, to_string(finding.state), finding.text);
}

std::string counted_by(const std::string& metric) {
  const MetricRole* role = role_of(metric);
  if (role == nullptr) return "-";
  switch (role->quantity) {
    case Quantity::flops_fp64:
      return "FP64 operations";
    case Quantity::flops_fp32:
      return "FP32 operations";
    case Quantity::flops_fp16:
      return "FP16 operations";
    case Quantity::flops_tensor:
    case Quantity::ops_tensor:
      return std::string(role->type) + " tensor work";
    case Quantity::bytes_dram_read:
      return "DRAM bytes read";
    case Quantity::bytes_dram_write:
      return "DRAM bytes written";
    case Quantity::bytes_l2:
      return "L2 bytes";
    case Quantity::bytes_l1:
      return "L1 bytes";
    case Quantity::duration_ns:
      return "duration";
    case Quantity::ctas:
      return "thread blocks";
    case Quantity::sm_cycles:
      return "SM cycles";
    case Quantity::tensor_instructions:
      return "tensor instructions";
  }
  return "-";
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

void print_plan(const MetricPlan& plan) {
  std::size_t widest = 0;
  for (const PassPlan& pass : plan.passes) {
    for (const std::string& metric : pass.metrics) widest = std::max(widest, metric.size());
  }
  const int width = static_cast<int>(widest);
  std::printf("%-7s%-*s  %s\n", "phase", width, "metric", "counts");
  for (const PassPlan& pass : plan.passes) {
    std::string phase = to_string(pass.phase);
    for (const std::string& metric : pass.metrics) {
      std::printf("%-7s%-*s  %s\n", phase.c_str(), width, metric.c_str(),
                  counted_by(metric).c_str());
      phase.clear();
    }
  }
}

class DoctorCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--chip", chip_, "print this chip's plan of passes");
    app.add_option("--cupti", cupti_, "the libcupti to ask");
    app.add_option("--playback", playback_, "examine the playback GPU");
  }

  int run() override {
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
    const Examination found = examine(cupti_);
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
    const CuptiApi api = load_cupti(cupti_);
    if (!api.can_profile) {
      say(api.why_not);
      return kExitLimited;
    }
    std::string chip = chip_;
    std::transform(chip.begin(), chip.end(), chip.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::vector<std::string> known = supported_chips(api);
    if (known.empty()) {
      // So from CUDA 13.3 on where there is no driver.
      say("The CUPTI " + api.path + " (" + version_of(api) +
          ") does not list its chips here; without a driver those of CUDA 12.6 to 13.1 do: point "
          "--cupti to one.");
      return kExitLimited;
    }
    if (std::find(known.begin(), known.end(), chip) == known.end()) {
      throw WrongUse("There is no chip '" + chip_ + "' in this CUPTI; --chip takes one of " +
                     joined(known) + ".");
    }
    const MetricPlan plan = plan_metrics(api, chip);
    if (plan.passes.empty()) {
      say(chip + " has no counters that Gable can take" +
          (plan.error.empty() ? "." : ": " + plan.error));
      return kExitLimited;
    }
    print_wrapped("", 0,
                  (playback_.empty() ? "" : "[playback] ") + chip + ": " +
                      std::to_string(plan.passes.size()) +
                      " passes, each in windows of its own, as planned by " + api.path + " (" +
                      version_of(api) + ").");
    std::printf("\n");
    print_plan(plan);
    std::printf("\n");
    if (!plan.unavailable.empty()) {
      print_wrapped("", 0, "Not counted on this chip: " + joined(plan.unavailable) + ".");
    }
    print_wrapped("", 0,
                  chip.rfind("GV", 0) == 0
                      ? "CUPTI plans for this chip but takes no counters on it: its range profiler "
                        "needs compute capability 7.5 or newer. Only the phase time runs there."
                      : "Times come from the phase time, which takes no counters.");
    return kExitGood;
  }

  std::string chip_, cupti_, playback_;
};

}  // namespace

std::unique_ptr<Command> make_doctor_command() { return std::make_unique<DoctorCommand>(); }

}  // namespace gable

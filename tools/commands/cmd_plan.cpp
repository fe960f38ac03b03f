// SPDX-License-Identifier: Apache-2.0
// gable plan: a PyTorch model under GPUs' roofs, before anything runs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "analysis/base/input_file.h"
#include "tools/commands/chosen_gpus.h"
#include "tools/commands/command.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"
#include "tools/plan/plan_output.h"
#include "tools/plan/plan_python.h"

namespace gable {
namespace {

constexpr std::uint64_t kMostPlannedBatch = 65536;
constexpr std::size_t kMostBatches = 64;  // the model runs once for each

class PlanCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app_ = &app;
    app.add_option("MODEL", model_)->required();
    app.add_option("--gpu,--device", gpu_names_)
        ->type_name("NAME")
        ->required()
        ->allow_extra_args(false);
    app.add_option("--input", request_.inputs)->type_name("SPEC")->allow_extra_args(false);
    app.add_option("--batch", batch_text_)->type_name("N");
    app.add_flag("--train", request_.train);
    app.add_option("--precision", request_.precision)->type_name("TYPE");
    app.add_option("--optimizer", request_.optimizer)->type_name("NAME");
    app.add_option("--past", past_)->type_name("N")->check(CLI::Range(1, 100000000));
    app.add_option("--efficiency", efficiency_)->type_name("SHARES");
    app.add_option("--launch", launch_us_)->type_name("US");
    app.add_option("--overhead", overhead_us_)->type_name("US");
    app.add_option("--ranks", ranks_)->type_name("data=N|shard=N");
    app.add_option("--link", link_gb_)->type_name("GB/S");
    app.add_option("--python", request_.python)->type_name("PROGRAM");
    app.add_option("--top", top_)->type_name("N")->check(CLI::Range(1, 1000000));
    app.add_option("--json", json_)->type_name("OUT");
  }

  int run() override {
    gpus_.choose(gpu_names_);
    read_options();
    check_output_place(json_, "--json");
    remarks_ = place_of_remarks({{"--json", json_}});
    const bool from_file = find_file();
    if (!from_file) {
      const PlanAnswer answer = ask();
      if (answer.exit_code != 0) return answer.exit_code;
      document_ = answer.document;
    }
    const Plan plan = plan_from_json(document_, from_file ? model_ : "What Python has written");
    PlanView view{&plan, options_, gpus_.all(), {}};
    choose_runs(plan, view, from_file);
    if (!json_.empty()) {
      write_output(
          {{}, from_file ? std::vector<std::string>{model_} : std::vector<std::string>(), {}},
          plan_json(view, document_), json_);
      if (json_ != "-") print_line(remarks_, "Written: " + json_);
      return kExitGood;
    }
    std::size_t columns = 100;
    bool colours = false;
    fit_terminal(columns, colours);
    print_line(stdout, plan_title(view));
    std::fputs(plan_layers(view, top_, columns, colours).c_str(), stdout);
    std::fputc('\n', stdout);
    std::fputs(plan_rows(view, columns, colours).c_str(), stdout);
    for (const std::string& line : plan_remarks(view)) print_line(stdout, line);
    return kExitGood;
  }

 private:
  static std::uint64_t batch_of(const std::string& word) {
    std::uint64_t value = 0;
    for (const char c : word) {
      if (c < '0' || c > '9' || value > kMostPlannedBatch) return 0;
      value = value * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return value > kMostPlannedBatch ? 0 : value;
  }

  // "1,4,16", or "1..256", which doubles.
  void read_batches() {
    const auto wrong = [&] {
      throw WrongUse(
          "--batch takes whole numbers from 1 to 65536 with commas, or a range such as "
          "1..256, which doubles, not '" +
          batch_text_ + "'.");
    };
    for (const std::string& word : words_between_commas(batch_text_)) {
      const std::size_t dots = word.find("..");
      const std::uint64_t first = batch_of(word.substr(0, dots));
      const std::uint64_t last =
          dots == std::string::npos ? first : batch_of(word.substr(dots + 2));
      if (first == 0 || last < first) wrong();
      for (std::uint64_t each = first; each <= last; each *= 2) batches_.push_back(each);
      if (batches_.back() != last) batches_.push_back(last);
    }
    if (batches_.empty()) wrong();
    std::sort(batches_.begin(), batches_.end());
    batches_.erase(std::unique(batches_.begin(), batches_.end()), batches_.end());
    if (batches_.size() > kMostBatches)
      throw WrongUse("--batch takes at most " + std::to_string(kMostBatches) + " batches at once.");
  }

  void read_ranks() {
    constexpr double kMostRanks = 1000000;
    if (app_->count("--ranks") > 0) {
      const std::size_t equals = ranks_.find('=');
      const std::string kind = ranks_.substr(0, equals);
      const std::string count = equals == std::string::npos ? "" : ranks_.substr(equals + 1);
      const bool digits = !count.empty() && count.size() < 8 &&
                          count.find_first_not_of("0123456789") == std::string::npos;
      options_.ranks = digits ? std::stod(count) : 0;
      options_.sharded = kind == "shard";
      if ((kind != "data" && kind != "shard") || options_.ranks < 1 || options_.ranks > kMostRanks)
        throw WrongUse(
            "--ranks takes data=N, where each GPU has the whole model, or shard=N, where they "
            "divide it as FSDP does, not '" +
            ranks_ + "'. Tensor and pipeline parallel runs are not planned.");
    }
    if (app_->count("--link") == 0) return;
    if (!(link_gb_ > 0 && std::isfinite(link_gb_)))
      throw WrongUse("--link takes the GB/s of a GPU's link to the others, each way.");
    if (options_.ranks <= 1) throw WrongUse("--link is for several ranks (--ranks data=8).");
    options_.link = link_gb_ * 1e9;
  }

  void read_options() {
    if (app_->count("--batch") > 0) read_batches();
    const auto share = [](const std::string& text) {
      char* end = nullptr;
      const double value = std::strtod(text.c_str(), &end);
      return !text.empty() && *end == '\0' && value > 0 && value <= 1 ? value : -1;
    };
    for (const std::string& word : words_between_commas(efficiency_)) {
      const std::size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      const double value = equals == std::string::npos ? -1 : share(word.substr(equals + 1));
      if (value < 0 || (name != "compute" && name != "memory"))
        throw WrongUse(
            "--efficiency takes shares above 0 and up to 1, as in "
            "compute=0.5,memory=0.8, not '" +
            word + "'.");
      (name == "compute" ? options_.compute : options_.memory) = value;
    }
    for (const auto& [option, value] :
         {std::pair{"--launch", launch_us_}, std::pair{"--overhead", overhead_us_}})
      if (!(value >= 0 && std::isfinite(value)))
        throw WrongUse(std::string(option) + " takes a number of microseconds of at least 0.");
    read_ranks();
    options_.launch_ns = launch_us_ * 1000;
    options_.overhead_ns = overhead_us_ * 1000;
    if (!request_.optimizer.empty() && !request_.train)
      throw WrongUse("--optimizer is for training (--train).");
    const std::vector<std::string> optimizers = {"adamw", "adam", "momentum",
                                                 "lion",  "sgd",  "none"};
    if (!request_.optimizer.empty() &&
        std::find(optimizers.begin(), optimizers.end(), request_.optimizer) == optimizers.end())
      throw WrongUse("--optimizer takes adamw, adam, momentum, lion, sgd or none, not '" +
                     request_.optimizer + "'.");
    const std::vector<std::string> types = {"fp64", "fp32", "tf32", "bf16", "fp16"};
    if (!request_.precision.empty() &&
        std::find(types.begin(), types.end(), request_.precision) == types.end())
      throw WrongUse("--precision takes fp64, fp32, tf32, bf16 or fp16, not '" +
                     request_.precision + "'.");
    if (past_ > 0) request_.past = std::to_string(past_);
    if (past_ > 0 && request_.train)
      throw WrongUse("--past is for generation, which does not train.");
  }

  // Whether the model is a plan in a file.
  bool find_file() {
    if (model_.find(':') != std::string::npos || !model_.ends_with(".json")) return false;
    InputFile file(model_, "a plan");
    const auto text = file.read_all();
    if (!text) throw WrongUse(file.error());
    if (!is_plan(*text)) return false;  // Python sees whether it is one of Hugging Face's
    document_ = *text;
    for (const char* option :
         {"--input", "--train", "--precision", "--optimizer", "--past", "--python"})
      if (app_->count(option) > 0)
        throw WrongUse(std::string(option) + " is for models, and " + model_ +
                       " is a plan that was made of one.");
    return true;
  }

  PlanAnswer ask() {
    if (request_.inputs.empty())
      throw WrongUse(
          "--input is missing: the type and shape of what the model is called with, such as "
          "'float32[1,3,224,224]'.");
    for (const std::uint64_t batch : batches_)
      request_.batches += (request_.batches.empty() ? "" : ",") + std::to_string(batch);
    request_.model = model_;
    return ask_python(request_);
  }

  void choose_runs(const Plan& plan, PlanView& view, bool from_file) {
    std::string all;
    for (const PlanRun& run : plan.runs) {
      const bool wanted = from_file && !batches_.empty()
                              ? std::binary_search(batches_.begin(), batches_.end(), run.batch)
                              : run.asked;
      if (wanted) view.runs.push_back(&run);
      all += (all.empty() ? "" : ", ") + std::to_string(run.batch);
    }
    if (view.runs.empty() || (from_file && view.runs.size() < batches_.size()))
      throw WrongUse(model_ + " has these batches: " + all + ".");
  }

  CLI::App* app_ = nullptr;
  PlanRequest request_;
  PlanOptions options_;
  std::string model_, batch_text_, efficiency_, json_;
  std::vector<std::string> gpu_names_;
  std::string ranks_;
  double launch_us_ = 0, overhead_us_ = 0, link_gb_ = 0;
  int past_ = 0;
  std::size_t top_ = 15;
  std::vector<std::uint64_t> batches_;
  ChosenGpus gpus_;
  std::string document_;
  std::FILE* remarks_ = stdout;
};

}  // namespace

std::unique_ptr<Command> make_plan_command() { return std::make_unique<PlanCommand>(); }

}  // namespace gable

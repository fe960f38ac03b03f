// SPDX-License-Identifier: Apache-2.0
// gable predict: layers of a report, or a described model, under other GPUs' roofs.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/commands/chosen_gpus.h"
#include "tools/commands/command.h"
#include "tools/files/report_files.h"
#include "tools/files/report_output.h"
#include "tools/page/page.h"
#include "tools/predict/predict.h"
#include "tools/predict/predict_output.h"
#include "tools/show/sources.h"

namespace gable {
namespace {

class PredictCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app_ = &app;
    app.add_option("FILE", file_);
    app.add_option("--gpu,--device", devices_)->type_name("NAME")->required();
    app.add_option("--model", model_)->type_name("NAME");
    app.add_option("--batch", batches_)->type_name("N");
    app.add_option("--sequence", sequence_)->type_name("N")->check(CLI::Range(1, 10000000));
    app.add_flag("--training", options_.training);
    app.add_option("--precision", precision_)->type_name("TYPE");
    app.add_option("--flops", flops_)->type_name("F");
    app.add_option("--bytes", bytes_)->type_name("B");
    app.add_option("--efficiency", options_.efficiency)->type_name("SHARE");
    app.add_option("--overhead", overhead_us_)->type_name("US");
    app.add_option("--top", top_)->type_name("N")->check(CLI::Range(1, 1000000));
    app.add_option("--csv", csv_)->type_name("OUT");
    app.add_option("--html", html_)->type_name("OUT");
  }

  int run() override {
    gpus_.choose({devices_});
    const bool by_hand = flops_ >= 0 || bytes_ >= 0;
    if (int(!file_.empty()) + int(!model_.empty()) + int(by_hand) != 1)
      throw WrongUse(
          "gable predict takes one of: a report, --model NAME, or --flops with --bytes.");
    check_options(by_hand);
    if (!precision_.empty() && element_bytes(precision_) == 0)
      throw WrongUse("--precision takes fp64, fp32, tf32, bf16, fp16, fp8, fp4 or int8, not '" +
                     precision_ + "'.");
    if (!(options_.efficiency > 0 && options_.efficiency <= 1))
      throw WrongUse("--efficiency takes a share above 0 and up to 1.");
    if (!(overhead_us_ >= 0 && std::isfinite(overhead_us_)))
      throw WrongUse("--overhead takes a number of microseconds of at least 0.");
    remarks_ = place_of_remarks({{"--csv", csv_}, {"--html", html_}});
    options_.overhead_ns = overhead_us_ * 1000;
    if (!file_.empty()) return of_report();
    options_.precision = precision_.empty() ? "fp16" : precision_;
    return by_hand ? of_numbers() : of_model();
  }

 private:
  // An option that would change nothing is not passed over: the numbers would be taken for its.
  void check_options(bool by_hand) const {
    const auto only = [this](bool allowed, const char* option, const char* of) {
      if (!allowed && app_->count(option) > 0)
        throw WrongUse(std::string(option) + " is for " + of + ".");
    };
    only(!model_.empty(), "--batch", "models (--model)");
    only(model_.starts_with("llama"), "--sequence", "Llama models (--model)");
    only(!model_.empty() || by_hand, "--efficiency", "models (--model), --flops and --bytes");
    only(!model_.empty() || by_hand, "--overhead", "models (--model), --flops and --bytes");
    only(!model_.empty() && !model_.ends_with("-decode"), "--training",
         "models that read whole inputs (--model)");
    only(!file_.empty(), "--top", "reports");
  }

  std::vector<std::uint64_t> batches() const {
    std::vector<std::uint64_t> out;
    for (const std::string& word : words_between_commas(batches_)) {
      std::size_t used = 0;
      unsigned long value = 0;
      try {
        value = std::stoul(word, &used);
      } catch (const std::exception&) {
        used = 0;
      }
      if (used == 0 || used != word.size() || value == 0 || value > 65536)
        throw WrongUse("--batch takes whole numbers from 1 to 65536 with commas, not '" + word +
                       "'.");
      out.push_back(value);
    }
    if (out.empty()) throw WrongUse("--batch takes whole numbers from 1 to 65536 with commas.");
    return out;
  }

  void print_peaks() const {
    for (const GpuSpec* gpu : gpus_.all()) {
      if (!peak_of(*gpu, options_.precision))
        print_line(stdout, gpu->name + ": no published " + options_.precision +
                               " peak: nothing can be predicted.");
    }
  }

  int show(const std::vector<PredictedRow>& rows, const std::string& what,
           const std::string& sample, const std::string& head) {
    if (!csv_.empty()) {
      write_output({}, predicted_csv(rows, what, options_), csv_);
      if (csv_ != "-") print_line(remarks_, "Written: " + csv_);
    }
    if (!csv_.empty() || !html_.empty()) return kExitGood;
    std::size_t columns = 100;
    bool colours = false;
    fit_terminal(columns, colours);
    std::printf("[predicted] %s; %s%s%s\n", what.c_str(), head.c_str(),
                options_.training ? ", training" : "",
                options_.efficiency < 1 ? "" : ", every layer at its roof");
    std::vector<Column> table = predicted_columns(rows, sample);
    const std::string wide =
        drop_columns(table, {"ridge", "FLOP/B", "TFLOP/s", "changes"}, columns);
    std::fputs(render_columns(std::move(table), rows.size(), columns, colours).c_str(), stdout);
    if (!wide.empty()) print_line(stdout, "Columns left out (terminal too narrow): " + wide + ".");
    for (const PredictedRow& row : rows) {
      if (row.prediction.fits) continue;
      std::puts(options_.training
                    ? "*: exceeds GPU memory (weights, gradients, Adam's state and values)."
                    : "*: exceeds GPU memory (weights, K and V, and values).");
      break;
    }
    print_peaks();
    return kExitGood;
  }

  int of_numbers() {
    if (!(flops_ >= 0 && bytes_ > 0 && std::isfinite(flops_) && std::isfinite(bytes_)))
      throw WrongUse("--flops and --bytes go together: numbers of at least 0, bytes above 0.");
    if (!html_.empty()) throw WrongUse("--html is for reports and models.");
    std::vector<PredictedRow> rows;
    for (const GpuSpec* gpu : gpus_.all())
      rows.push_back(
          {gpu, predict(flops_, bytes_, *gpu, options_), ridge_point(*gpu, options_), 0, false});
    return show(rows, "given FLOP and bytes", "", options_.precision);
  }

  int of_model() {
    const DescribedModel model = described_model(model_, sequence_);
    if (model.name.empty())
      throw WrongUse("There is no model '" + model_ + "': " + described_model_names() + ".");
    const std::vector<std::uint64_t> sizes = batches();
    std::vector<PredictedRow> rows;
    for (const GpuSpec* gpu : gpus_.all()) {
      const std::uint64_t change = batch_of_change(model, *gpu, options_);
      for (const std::uint64_t batch : sizes)
        rows.push_back({gpu, predict(model, *gpu, batch, options_), ridge_point(*gpu, options_),
                        change, true});
    }
    if (!html_.empty()) {
      std::vector<Report> reports;
      std::vector<std::string> names;
      for (const GpuSpec* gpu : gpus_.all()) {
        reports.push_back(model_report(model, *gpu, sizes, options_));
        names.push_back(model.name + " on " + gpu->name);
      }
      write_pages(reports, names);
    }
    return show(rows, model.name, model.sample, options_.precision);
  }

  void write_pages(const std::vector<Report>& reports, const std::vector<std::string>& names) {
    write_output({{}, file_.empty() ? std::vector<std::string>() : std::vector{file_}, {}},
                 render_page(reports, names), html_);
    if (html_ != "-") print_line(remarks_, "Page: " + html_);
  }

  int of_report() {
    const ReportFiles files = read_reports({file_});
    if (!files.problems.empty()) throw WrongUse(files.problems.front());
    const Report& here = files.reports.front();
    std::vector<Report> there;
    std::vector<std::string> names = file_names(files);
    for (const GpuSpec* gpu : gpus_.all()) {
      there.push_back(predicted_report(here, *gpu, precision_));
      names.push_back(names.front() + " on " + gpu->name);
    }
    if (!csv_.empty()) {
      write_output(files, predicted_layers_csv(here, there), csv_);
      if (csv_ != "-") print_line(remarks_, "Written: " + csv_);
    }
    if (!html_.empty()) {
      std::vector<Report> all = {here};
      all.insert(all.end(), there.begin(), there.end());
      write_pages(all, names);
    }
    if (!csv_.empty() || !html_.empty()) return kExitGood;
    std::size_t columns = 100;
    bool colours = false;
    fit_terminal(columns, colours);
    const std::string source = source_mark({here});
    print_line(stdout, source + "[predicted] time per " + to_string(here.run.unit) + ", from " +
                           starting_gpu(here) +
                           (precision_.empty() ? "" : ", matrix products in " + precision_));
    std::fputs(predicted_layers(here, there, top_, columns, colours).c_str(), stdout);
    for (const std::string& line : predicted_remarks(here, there)) print_line(stdout, line);
    return kExitGood;
  }

  CLI::App* app_ = nullptr;
  std::string file_, devices_, model_, batches_ = "1", precision_, csv_, html_;
  double flops_ = -1, bytes_ = -1, overhead_us_ = 0;
  int sequence_ = 2048;
  std::size_t top_ = 15;
  PredictOptions options_;
  std::FILE* remarks_ = stdout;
  ChosenGpus gpus_;
};

}  // namespace

std::unique_ptr<Command> make_predict_command() { return std::make_unique<PredictCommand>(); }

}  // namespace gable

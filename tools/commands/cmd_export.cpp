// SPDX-License-Identifier: Apache-2.0
// gable export: reports into a Parquet dataset.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/commands/command.h"
#include "tools/launch/python_side.h"

namespace gable {
namespace {

class ExportCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("reports", reports_)->required();
    app.add_option("--parquet", folder_)->type_name("DIR")->required();
    app.add_option("--job", job_)->type_name("NAME");
    app.add_option("--processes", processes_)->type_name("N")->check(CLI::PositiveNumber);
    app.add_option("--python", python_)->type_name("PROGRAM");
  }

  int run() override {
    std::vector<std::string> words{"--parquet=" + folder_, "--job=" + job_,
                                   "--processes=" + std::to_string(processes_), "--"};
    words.insert(words.end(), reports_.begin(), reports_.end());
    return run_python_side(python_, "gable_fleet.export", words, "nothing can be exported");
  }

 private:
  std::vector<std::string> reports_;
  std::string folder_, job_, python_ = default_python();
  int processes_ = 0;  // as many as there are cores
};

}  // namespace

std::unique_ptr<Command> make_export_command() { return std::make_unique<ExportCommand>(); }

}  // namespace gable

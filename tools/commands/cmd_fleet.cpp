// SPDX-License-Identifier: Apache-2.0
// gable fleet: what the jobs of a dataset lose, and which ranks, nodes and layers are slow.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/commands/command.h"
#include "tools/launch/python_side.h"

namespace gable {
namespace {

class FleetCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("dataset", dataset_)->required();
    app.add_option("--job", jobs_)->type_name("NAME")->allow_extra_args(false);
    app.add_option("--top", top_)->type_name("N")->check(CLI::PositiveNumber);
    app.add_option("--dask", dask_)->type_name("ADDRESS");
    app.add_option("--json", json_)->type_name("FILE");
    app.add_option("--html", html_)->type_name("FILE");
    app.add_option("--python", python_)->type_name("PROGRAM");
  }

  int run() override {
    std::vector<std::string> words{"--top=" + std::to_string(top_), "--dask=" + dask_,
                                   "--json=" + json_, "--html=" + html_};
    for (const std::string& job : jobs_) words.push_back("--job=" + job);
    words.insert(words.end(), {"--", dataset_});
    return run_python_side(python_, "gable_fleet.fleet", words, "no fleet can be shown");
  }

 private:
  std::string dataset_, dask_, json_, html_, python_ = default_python();
  std::vector<std::string> jobs_;
  int top_ = 10;
};

}  // namespace

std::unique_ptr<Command> make_fleet_command() { return std::make_unique<FleetCommand>(); }

}  // namespace gable

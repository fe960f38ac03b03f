// SPDX-License-Identifier: Apache-2.0
// gable monitor: what the newest reports say, for Prometheus and OpenTelemetry.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tools/commands/command.h"
#include "tools/launch/python_side.h"

namespace gable {
namespace {

class MonitorCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("reports", reports_)->required();
    app.add_option("--textfile", textfile_)->type_name("FILE");
    app.add_option("--listen", listen_)->type_name("ADDRESS");
    app.add_option("--otlp", otlp_)->type_name("URL");
    app.add_option("--interval", interval_)->type_name("SECONDS")->check(CLI::PositiveNumber);
    app.add_option("--max-age", max_age_)->type_name("SECONDS")->check(CLI::PositiveNumber);
    app.add_option("--top", top_)->type_name("N")->check(CLI::PositiveNumber);
    app.add_option("--python", python_)->type_name("PROGRAM");
  }

  int run() override {
    std::error_code code;
    const std::string program = std::filesystem::read_symlink("/proc/self/exe", code).string();
    std::vector<std::string> words{"--program=" + program,          "--textfile=" + textfile_,
                                   "--listen=" + listen_,           "--otlp=" + otlp_,
                                   "--interval=" + interval_,       "--max-age=" + max_age_,
                                   "--top=" + std::to_string(top_), "--"};
    words.insert(words.end(), reports_.begin(), reports_.end());
    return run_python_side(python_, "gable_fleet.monitor", words, "nothing can be monitored");
  }

 private:
  std::vector<std::string> reports_;
  std::string textfile_, listen_, otlp_, python_ = default_python();
  std::string interval_ = "0", max_age_ = "86400";  // seconds; 0: once
  int top_ = 10;
};

}  // namespace

std::unique_ptr<Command> make_monitor_command() { return std::make_unique<MonitorCommand>(); }

}  // namespace gable

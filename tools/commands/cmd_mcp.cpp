// SPDX-License-Identifier: Apache-2.0
// gable mcp: a server by which language models read reports.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <system_error>

#include "tools/commands/command.h"
#include "tools/launch/injection.h"
#include "tools/launch/python_side.h"

namespace gable {
namespace {

class McpCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--folder", folder_)->type_name("DIR");
    app.add_option("--python", python_)->type_name("PROGRAM");
  }

  int run() override {
    std::error_code code;
    if (!std::filesystem::is_directory(folder_, code))
      throw WrongUse("--folder: there is no folder " + folder_ + ".");
    const std::string program = std::filesystem::read_symlink("/proc/self/exe", code).string();
    return run_python_side(python_, "gable_profiler._mcp",
                           {"--program=" + program, "--folder=" + full_path(folder_)},
                           "no server can be started");
  }

 private:
  std::string folder_ = ".", python_ = default_python();
};

}  // namespace

std::unique_ptr<Command> make_mcp_command() { return std::make_unique<McpCommand>(); }

}  // namespace gable

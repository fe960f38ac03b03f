// SPDX-License-Identifier: Apache-2.0
// gable env: the exports for job scripts and containers that cannot use the launcher.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "collector/options/settings.h"
#include "collector/options/shell_words.h"
#include "tools/commands/command.h"
#include "tools/launch/injection.h"
#include "tools/launch/install.h"

namespace gable {
namespace {

class EnvCommand final : public Command {
 public:
  void declare(CLI::App& app) override { add_collection_options(app, settings_); }

  int run() override {
    if (const auto both = contradiction(settings_); !both.empty()) throw WrongUse(both);
    const std::string library = injected_library();
    if (library.empty()) throw WrongUse(no_injected_library());
    std::printf("export CUDA_INJECTION64_PATH=%s\n", shell_quoted(library).c_str());
    std::printf("export NVTX_INJECTION64_PATH=%s\n", shell_quoted(library).c_str());
    std::printf("export GABLE_OPTIONS=%s\n", shell_quoted(to_options(settings_)).c_str());
    if (lacks_python_side(settings_)) say(no_python_side());
    const std::string startup =
        settings_.layers == ModuleLayers::automatic ? python_startup_folder() : std::string();
    if (!startup.empty()) {
      std::printf("export PYTHONPATH=%s${PYTHONPATH:+:$PYTHONPATH}\n",
                  shell_quoted(startup).c_str());
    }
    return kExitGood;
  }

 private:
  Settings settings_;
};

}  // namespace

std::unique_ptr<Command> make_env_command() { return std::make_unique<EnvCommand>(); }

}  // namespace gable

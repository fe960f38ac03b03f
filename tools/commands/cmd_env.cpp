// SPDX-License-Identifier: Apache-2.0
// gable env: the exports for job scripts and containers that cannot use the launcher.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "collector/options/settings.h"
#include "collector/options/shell_words.h"
#include "tools/commands/command.h"
#include "tools/launch/injection.h"
#include "tools/launch/install.h"

namespace gable {
namespace {

class EnvCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    add_collection_options(app, settings_);
    app.add_flag("--json", json_);
  }

  int run() override {
    if (const auto both = contradiction(settings_); !both.empty()) throw WrongUse(both);
    const std::string library = injected_library();
    if (library.empty()) throw WrongUse(no_injected_library());
    if (lacks_python_side(settings_)) say(no_python_side());
    std::vector<std::pair<std::string, std::string>> variables = {
        {"CUDA_INJECTION64_PATH", library},
        {"NVTX_INJECTION64_PATH", library},
        {"GABLE_OPTIONS", to_options(settings_)}};
    if (const std::string kokkos = kokkos_tool_to_set(); !kokkos.empty())
      variables.emplace_back("KOKKOS_TOOLS_LIBS", kokkos);
    const std::string startup =
        settings_.layers == ModuleLayers::automatic ? python_startup_folder() : std::string();
    if (json_) {
      nlohmann::ordered_json all;
      for (const auto& [name, value] : variables) all[name] = value;
      const char* before = std::getenv("PYTHONPATH");
      const bool more = before != nullptr && *before != 0;
      if (!startup.empty()) all["PYTHONPATH"] = more ? startup + ":" + before : startup;
      std::printf("%s\n",
                  all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
      return kExitGood;
    }
    for (const auto& [name, value] : variables)
      std::printf("export %s=%s\n", name.c_str(), shell_quoted(value).c_str());
    if (!startup.empty()) {
      std::printf("export PYTHONPATH=%s${PYTHONPATH:+:$PYTHONPATH}\n",
                  shell_quoted(startup).c_str());
    }
    return kExitGood;
  }

 private:
  Settings settings_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> make_env_command() { return std::make_unique<EnvCommand>(); }

}  // namespace gable

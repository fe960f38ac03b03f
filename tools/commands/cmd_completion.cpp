// SPDX-License-Identifier: Apache-2.0
// gable completion: a script that lets a shell complete gable's command line.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "tools/commands/command.h"
#include "tools/completion/completion.h"

namespace gable {
namespace {

class CompletionCommand final : public Command {
 public:
  void declare(CLI::App& app) override { app.add_option("SHELL", shell_)->required(); }

  int run() override {
    std::vector<CompletedCommand> commands;
    for (const CommandEntry& entry : all_commands())
      commands.push_back(completed_command(entry.name, entry.page, entry.make()->takes_program()));
    std::string text;
    if (shell_ == "bash") text = bash_completion(commands);
    if (shell_ == "zsh") text = zsh_completion(commands);
    if (shell_ == "fish") text = fish_completion(commands);
    if (text.empty()) throw WrongUse("SHELL is bash, zsh or fish, not '" + shell_ + "'.");
    std::fwrite(text.data(), 1, text.size(), stdout);
    return kExitGood;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Command> make_completion_command() { return std::make_unique<CompletionCommand>(); }

}  // namespace gable

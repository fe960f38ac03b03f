// SPDX-License-Identifier: Apache-2.0
// Scripts that let a shell complete the command line of `gable`. Pure code: the pages of the
// commands come in, scripts go out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gable {

struct CompletedOption {
  std::vector<std::string> names;    // "-o", "--output"
  std::string value;                 // as on the page: "OUT", "user|auto"; empty: it takes none
  std::vector<std::string> choices;  // the words that `value` names, if it is a choice
  std::string help;                  // a line of plain text

  // Whether the value is the name of a file or a folder.
  [[nodiscard]] bool takes_file() const;
};

struct CompletedCommand {
  std::string name;
  std::string help;            // a line of plain text
  bool takes_program = false;  // the words after `--` are another program's command line
  std::vector<CompletedOption> options;
};

// Reads the page docs/commands/NAME.md, whose tables list all options of the command.
[[nodiscard]] CompletedCommand completed_command(std::string_view name, std::string_view page,
                                                 bool takes_program);

[[nodiscard]] std::string bash_completion(const std::vector<CompletedCommand>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<CompletedCommand>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<CompletedCommand>& commands);

}  // namespace gable

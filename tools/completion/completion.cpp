// SPDX-License-Identifier: Apache-2.0
#include "tools/completion/completion.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "collector/options/shell_words.h"
#include "tools/show/help_page.h"

namespace gable {
namespace {

bool is_choice(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::vector<std::string> parts_of(std::string_view text, char between) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find(between, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// A line for a list: up to the first full stop or semicolon, and not long.
std::string line_of(std::string_view markdown) {
  constexpr std::size_t kLongest = 72;
  std::string text = plain_text(markdown);
  for (const std::string_view end : {". ", "; "})
    text.resize(std::min(text.find(end), text.size()));
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  if (text.size() <= kLongest) return text;
  text.resize(std::min(text.rfind(' ', kLongest), kLongest));
  return text + " ...";
}

// The first cell: "`-o`, `--output OUT`".
std::optional<CompletedOption> option_of(std::string_view line) {
  if (line.substr(0, 4) != "| `-") return std::nullopt;
  const auto cells = table_cells(line);
  if (cells.size() < 2) return std::nullopt;
  CompletedOption option;
  for (std::string& word : parts_of(plain_text(cells[0]), ' ')) {
    if (word.ends_with(',')) word.pop_back();
    if (word.starts_with('-'))
      option.names.push_back(std::move(word));
    else
      option.value = std::move(word);
  }
  option.choices = parts_of(option.value, '|');
  const bool choices = option.choices.size() > 1 &&
                       std::all_of(option.choices.begin(), option.choices.end(), is_choice);
  if (!choices) option.choices.clear();
  option.help = line_of(cells[1]);
  return option;
}

// What the page says first, below its title and the command's form.
std::string first_paragraph(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    const bool prose = !line.empty() && line[0] != '#' && line[0] != ' ' && line[0] != '<';
    if (!prose && !text.empty()) break;
    if (prose) text += (text.empty() ? "" : "\n") + line;
  }
  return text;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : " ") + word;
  return all;
}

std::string names_of(const std::vector<CompletedCommand>& commands) {
  std::string all;
  for (const auto& command : commands) all += command.name + " ";
  return all + "help";
}

// A pattern of a shell's `case`: -o|--output.
std::string pattern_of(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : "|") + name;
  return all;
}

// What _arguments takes as a message between brackets.
std::string in_brackets(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_value(const CompletedOption& option) {
  if (option.value.empty()) return {};
  std::string action;
  if (!option.choices.empty()) action = "(" + joined(option.choices) + ")";
  if (option.takes_file()) action = "_files";
  return ":" + in_brackets(option.value) + ":" + action;
}

}  // namespace

bool CompletedOption::takes_file() const {
  constexpr std::array kFiles = {"FILE", "OUT", "PATH", "DIR", "REC", "PROGRAM", "B"};
  const auto words = parts_of(value, '|');
  const bool file = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(kFiles.begin(), kFiles.end(), word.substr(0, word.find('.'))) != kFiles.end();
  });
  return file || std::find(names.begin(), names.end(), "--output") != names.end();
}

CompletedCommand completed_command(std::string_view name, std::string_view page,
                                   bool takes_program) {
  CompletedCommand command{std::string(name), {}, takes_program, {}};
  const auto lines = parts_of(page, '\n');
  command.help = line_of(first_paragraph(lines));
  for (const std::string& line : lines)
    if (auto option = option_of(line)) command.options.push_back(std::move(*option));
  return command;
}

// Of another program's command line the shell completes files.
std::string bash_completion(const std::vector<CompletedCommand>& commands) {
  std::string text =
      "# bash completion of gable; made by `gable completion bash`.\n"
      "_gable() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options= "
      "word\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)) || { ((COMP_CWORD == 2)) && [[ $previous == help ]]; }; then\n"
      "    mapfile -t COMPREPLY < <(compgen -W " +
      shell_quoted(names_of(commands) + " --help --version") +
      " -- \"$current\")\n"
      "    return\n"
      "  fi\n"
      "  case ${COMP_WORDS[1]} in\n";
  for (const auto& command : commands) {
    text += "    " + command.name + ")\n";
    if (command.takes_program)
      text +=
          "      for word in \"${COMP_WORDS[@]:2:COMP_CWORD-2}\"; do\n"
          "        [[ $word != -- ]] || return 0\n"
          "      done\n";
    text += "      case $previous in\n";
    std::string all;
    for (const auto& option : command.options) {
      all += joined(option.names) + " ";
      if (option.value.empty()) continue;
      text += "        " + pattern_of(option.names) + ")\n";
      if (!option.choices.empty())
        text += "          mapfile -t COMPREPLY < <(compgen -W " +
                shell_quoted(joined(option.choices)) + " -- \"$current\")\n";
      text += "          return ;;\n";
    }
    text += "      esac\n      options=" + shell_quoted(all) + " ;;\n";
  }
  return text +
         "  esac\n"
         "  [[ $current != -* ]] || mapfile -t COMPREPLY < <(compgen -W \"$options\" -- "
         "\"$current\")\n"
         "}\n"
         "complete -o default -F _gable gable\n";
}

std::string zsh_completion(const std::vector<CompletedCommand>& commands) {
  std::string text =
      "#compdef gable\n"
      "# zsh completion of gable; made by `gable completion zsh`.\n"
      "_gable() {\n"
      "  local -a commands=(\n";
  for (const auto& command : commands) {
    std::string help = command.help;
    std::replace(help.begin(), help.end(), ':', ',');
    text += "    " + shell_quoted(command.name + ":" + help) + "\n";
  }
  text +=
      "    'help:prints the page of a command'\n"
      "  )\n"
      "  if ((CURRENT == 2)) || { ((CURRENT == 3)) && [[ $words[2] == help ]] }; then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n";
  for (const auto& command : commands) {
    text += "    " + command.name + ")\n      _arguments -s";
    for (const auto& option : command.options) {
      for (const auto& name : option.names) {
        text += " \\\n        " +
                shell_quoted("*" + name + "[" + in_brackets(option.help) + "]" + zsh_value(option));
      }
    }
    text += command.takes_program ? " \\\n        '*::program: _normal'"
                                  : " \\\n        '*:file:_files'";
    text += " ;;\n";
  }
  return text +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _gable ]]; then _gable \"$@\"; else compdef _gable gable; fi\n";
}

std::string fish_completion(const std::vector<CompletedCommand>& commands) {
  std::string text = "# fish completion of gable; made by `gable completion fish`.\n";
  const auto list = shell_quoted("not __fish_seen_subcommand_from " + names_of(commands));
  for (const auto& command : commands)
    text += "complete -c gable -n " + list + " -f -a " + command.name + " -d " +
            shell_quoted(command.help) + "\n";
  text += "complete -c gable -n " + list + " -f -a help -d 'prints the page of a command'\n";
  text += "complete -c gable -n '__fish_seen_subcommand_from help' -f -a " +
          shell_quoted(names_of(commands)) + "\n";
  for (const auto& command : commands) {
    const auto seen = shell_quoted("__fish_seen_subcommand_from " + command.name);
    for (const auto& option : command.options) {
      text += "complete -c gable -n " + seen;
      for (const auto& name : option.names)
        text += name.compare(0, 2, "--") == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.value.empty()) text += option.takes_file() ? " -r -F" : " -x";
      if (!option.choices.empty()) text += " -a " + shell_quoted(joined(option.choices));
      text += " -d " + shell_quoted(option.help) + "\n";
    }
  }
  return text;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/command.h"

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>

#include "tools/files/report_files.h"
#include "tools/show/help_page.h"

namespace gable {
namespace {

// CLI11's own messages are no sentences that say what is right.
std::string sentence_for(const CLI::ParseError& problem, const std::string& name) {
  const std::string help = "gable " + name + " --help lists what it takes.";
  std::string what = problem.what();
  if (dynamic_cast<const CLI::ValidationError*>(&problem) != nullptr) return what;
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr) {
    return what.substr(0, what.find(':')) + " needs a value; " + help;
  }
  if (dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr) {
    return "gable " + name + " needs " + what.substr(0, what.find(" is required")) + "; " + help;
  }
  return what + "; " + help;
}

void parse(CLI::App& app, Command& command, const std::string& name,
           const std::vector<std::string>& words) {
  const auto dashes =
      command.takes_program() ? std::find(words.begin(), words.end(), "--") : words.end();
  std::vector<std::string> own(words.begin(), dashes);
  std::reverse(own.begin(), own.end());  // as CLI11 wants them
  app.allow_extras();
  if (command.takes_program()) app.prefix_command();
  app.parse(own);

  const std::vector<std::string> rest = app.remaining();
  if (!rest.empty() && (!command.takes_program() || rest.front().rfind('-', 0) == 0)) {
    throw WrongUse("There is no option or argument '" + rest.front() + "' here; gable " + name +
                   " --help lists what it takes.");
  }
  // Without `--` the first word that is no option begins the program; a later `--` is then its own.
  const bool own_dashes = rest.empty() && dashes != words.end();
  command.program_ = rest;
  command.program_.insert(command.program_.end(), own_dashes ? dashes + 1 : dashes, words.end());
}

// A full disk is seen when the last part is written. If stdout was closed, nothing is expected
// there.
bool standard_output_arrived() {
  const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  return arrived || fcntl(STDOUT_FILENO, F_GETFD) == -1;
}

// The exit code of a command that is done. A nonzero exit code is kept.
int ended(int code) {
  if (standard_output_arrived()) return code;
  say("Standard output could not be written to its end.");
  return code == kExitGood ? kExitWrongUse : code;
}

// A page is Markdown where it may be read by a program, and rendered on a terminal.
void print_page(std::string_view page, std::FILE* where = stdout) {
  constexpr std::size_t kWidest = 100;
  if (isatty(fileno(where)) != 1) {
    std::fwrite(page.data(), 1, page.size(), where);
    return;
  }
  std::size_t columns = kWidest;
  bool colours = false;
  fit_terminal(columns, colours, where == stderr);
  const std::string text = render_help(page, std::min(columns, kWidest), colours);
  std::fwrite(text.data(), 1, text.size(), where);
}

int run_command(const CommandEntry& entry, const std::vector<std::string>& words) {
  const std::unique_ptr<Command> command = entry.make();
  CLI::App app;
  app.set_help_flag("-h,--help");
  try {
    command->declare(app);
    parse(app, *command, std::string(entry.name), words);
  } catch (const CLI::CallForHelp&) {
    print_page(entry.page);
    return ended(kExitGood);
  } catch (const CLI::ParseError& problem) {
    say(sentence_for(problem, std::string(entry.name)));
    return kExitWrongUse;
  }
  // A limit on the size of files then fails a write, which is said. A program that is started gets
  // the signal as it was.
  if (!command->takes_program()) std::signal(SIGXFSZ, SIG_IGN);
  const int code = command->run();
  return command->takes_program() ? code : ended(code);  // a program's exit code stays its own
}

}  // namespace

int run_gable(const std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    print_page(overview_page(), stderr);
    return kExitWrongUse;
  }
  const bool help = arguments.front() == "help" && arguments.size() > 1;
  const std::string& name = arguments[help ? 1 : 0];
  if (name == "--help" || name == "-h" || name == "help") {
    print_page(overview_page());
    return ended(kExitGood);
  }
  if (name == "--version") {
    std::puts("gable " GABLE_VERSION);
    return ended(kExitGood);
  }
  std::string known;
  for (const CommandEntry& entry : all_commands()) {
    if (entry.name == name) {
      if (help) {
        print_page(entry.page);
        return ended(kExitGood);
      }
      try {
        return run_command(entry, {arguments.begin() + 1, arguments.end()});
      } catch (const WrongUse& problem) {
        say(problem.what());
        return kExitWrongUse;
      }
    }
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  say("There is no command '" + name + "'; the commands are " + known + ".");
  return kExitWrongUse;
}

}  // namespace gable

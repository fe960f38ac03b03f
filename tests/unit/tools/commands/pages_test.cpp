// SPDX-License-Identifier: Apache-2.0
// The page of a command is its --help: what it promises must be declared, and what is declared must
// be on it.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "analysis/base/display.h"
#include "tools/commands/command.h"
#include "tools/show/help_page.h"

namespace gable {
namespace {

std::set<std::string> declared_options(const CommandEntry& entry) {
  CLI::App app;
  app.set_help_flag("-h,--help");
  const std::unique_ptr<Command> command = entry.make();
  command->declare(app);
  std::set<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // internal
    for (const std::string& name : option->get_lnames()) names.insert("--" + name);
    for (const std::string& name : option->get_snames()) names.insert("-" + name);
  }
  return names;
}

// Options are in the first column of the page's tables, in backticks.
std::set<std::string> documented_options(const std::string& page) {
  std::set<std::string> names;
  const std::regex row("\n\\| (`-[^|]*(?:\\\\\\|[^|]*)*) \\|");
  const std::regex name("`(--?[A-Za-z][A-Za-z-]*)");
  for (std::sregex_iterator line(page.begin(), page.end(), row), end; line != end; ++line) {
    const std::string cell = (*line)[1];
    for (std::sregex_iterator one(cell.begin(), cell.end(), name); one != end; ++one) {
      names.insert((*one)[1]);
    }
  }
  return names;
}

class Pages : public testing::TestWithParam<std::size_t> {};

TEST_P(Pages, HasEveryOptionAndNoOther) {
  const CommandEntry& entry = all_commands()[GetParam()];
  const std::string page(entry.page);
  EXPECT_EQ(page.rfind("# gable " + std::string(entry.name) + "\n", 0), 0U) << page.substr(0, 60);
  EXPECT_EQ(documented_options(page), declared_options(entry))
      << "the table of options in docs/commands/" << entry.name << ".md, and what declare() says";
}

TEST_P(Pages, IsInTheOverviewWithItsExitCodes) {
  const CommandEntry& entry = all_commands()[GetParam()];
  EXPECT_NE(overview_page().find("\n    gable " + std::string(entry.name) + " "),
            std::string_view::npos)
      << "docs/commands/gable.md lists no gable " << entry.name;
  EXPECT_NE(entry.page.find("## Exit codes"), std::string_view::npos)
      << "docs/commands/" << entry.name << ".md has no part with this heading";
}

TEST_P(Pages, HasNoMarksOfMarkdownOnATerminal) {
  for (const std::size_t columns : {std::size_t{60}, std::size_t{100}}) {
    std::istringstream lines(render_help(all_commands()[GetParam()].page, columns, false));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("    gable ")) continue;         // to be copied
      if (line.find("***") != std::string::npos) continue;  // how a secret is masked
      for (const char* mark : {"`", "](", "**", "\\|", "|--", "\x1b"})
        EXPECT_EQ(line.find(mark), std::string::npos) << line;
      EXPECT_FALSE(line.starts_with('#') || line.starts_with("| ")) << line;
      EXPECT_LE(display_width(line), std::max(columns, line.starts_with("    ") ? line.size() : 0))
          << line;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryCommand, Pages, testing::Range<std::size_t>(0, all_commands().size()),
                         [](const auto& one) {
                           return std::string(all_commands()[one.param].name);
                         });

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What --help looks like on a terminal.
#include "tools/show/help_page.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

constexpr const char* kPage =
    "# gable x\n"
    "\n"
    "    gable x [options]   # as it is, however long the line may be\n"
    "\n"
    "Prints **all** of `--it` for [people](page.md) and\n"
    "[others](https://a.b).\n"
    "\n"
    "- one item that is wrapped\n"
    "- two\n"
    "\n"
    "## Options\n"
    "\n"
    "| option | |\n"
    "|---|---|\n"
    "| `--a b\\|c` | says what it does, in words |\n"
    "| `-h` | help |\n"
    "| `--an-option-that-is-far-too-long` | below it |\n";

TEST(HelpPage, IsTextOfTheTerminalsWidth) {
  EXPECT_EQ(render_help(kPage, 30, false),
            "gable x\n"
            "\n"
            "    gable x [options]   # as it is, however long the line may be\n"
            "\n"
            "Prints all of --it for people\n"
            "and others (https://a.b).\n"
            "\n"
            "- one item that is wrapped\n"
            "- two\n"
            "\n"
            "Options\n"
            "\n"
            "--a b|c  says what it does, in\n"
            "         words\n"
            "-h       help\n"
            "--an-option-that-is-far-too-long\n"
            "         below it\n");
  EXPECT_NE(render_help(kPage, 20, false).find("- one item that is\n  wrapped\n- two\n"),
            std::string::npos);
}

TEST(HelpPage, HeadingsAndOptionsHaveColours) {
  const std::string text = render_help(kPage, 100, true);
  EXPECT_TRUE(text.starts_with("\x1b[1mgable x\x1b[0m\n\n    gable x [options] ")) << text;
  EXPECT_NE(text.find("Prints \x1b[1mall\x1b[0m of \x1b[36m--it\x1b[0m for people and others"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n\x1b[36m-h\x1b[0m       help\n"), std::string::npos) << text;
}

TEST(HelpPage, TablesOfWordsKeepTheirHeads) {
  EXPECT_EQ(
      render_help("| rung | taken | when |\n|---|---|---|\n| 1 | first | always |\n", 40, false),
      "rung  taken; when\n"
      "1     first; always\n");
  EXPECT_EQ(render_help("no * mark and an `open one", 40, false), "no * mark and an `open one\n");
  EXPECT_EQ(render_help("", 40, false), "");
}

}  // namespace
}  // namespace gable

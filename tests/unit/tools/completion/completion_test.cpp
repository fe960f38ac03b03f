// SPDX-License-Identifier: Apache-2.0
// What is read of a command's page. tests/package/archive_test.py has the shells complete.
#include "tools/completion/completion.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

constexpr std::string_view kPage = R"(# gable try

    gable try [options] FILE

Tries [a thing](../thing.md): what `FILE` has. Nothing else
is read.

| option | |
|---|---|
| `-o`, `--output NAME` | where the *result* goes; `-` is standard output |
| `--mode fast\|slow` | how. Default `fast` |
| `--gpu NAME\|FILE.json` | the GPU's |
| `--ranks data=N\|shard=N` | as in a plan |
| `-q`, `--quiet` | prints [no table](report.md), and so on, and says so at length, up to here and no further than that |
| `RANK` | no option |
)";

TEST(Completion, ReadsOptionsFromThePage) {
  const auto command = completed_command("try", kPage, true);
  EXPECT_EQ(command.name, "try");
  EXPECT_TRUE(command.takes_program);
  EXPECT_EQ(command.help, "Tries a thing: what FILE has");
  ASSERT_EQ(command.options.size(), 5u);
  const auto& output = command.options[0];
  EXPECT_EQ(output.names, (std::vector<std::string>{"-o", "--output"}));
  EXPECT_EQ(output.value, "NAME");
  EXPECT_EQ(output.help, "where the result goes");
  EXPECT_TRUE(output.takes_file());
  const auto& mode = command.options[1];
  EXPECT_EQ(mode.choices, (std::vector<std::string>{"fast", "slow"}));
  EXPECT_FALSE(mode.takes_file());
  EXPECT_EQ(mode.help, "how");
  EXPECT_TRUE(command.options[2].takes_file());
  EXPECT_TRUE(command.options[2].choices.empty());
  EXPECT_TRUE(command.options[3].choices.empty());  // values, not words
  EXPECT_EQ(command.options[4].value, "");
  EXPECT_EQ(command.options[4].help,
            "prints no table, and so on, and says so at length, up to here and no ...");
}

TEST(Completion, TextReachesTheShellsQuoted) {
  const auto command = completed_command("try", kPage, false);
  EXPECT_NE(fish_completion({command}).find(R"(-l gpu -r -F -d 'the GPU'\''s')"),
            std::string::npos);
  EXPECT_NE(zsh_completion({command}).find(R"('*--gpu[the GPU'\''s]:NAME|FILE.json:_files')"),
            std::string::npos);
  EXPECT_NE(bash_completion({command}).find("compgen -W 'fast slow'"), std::string::npos);
}

}  // namespace
}  // namespace gable

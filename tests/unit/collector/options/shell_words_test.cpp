// SPDX-License-Identifier: Apache-2.0
#include "collector/options/shell_words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gable {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& line) {
  Words words;
  EXPECT_TRUE(shell_words(line, words)) << line;
  return words;
}

TEST(ShellWords, AreParted) {
  EXPECT_EQ(words_of(""), Words());
  EXPECT_EQ(words_of(" \t\r\n "), Words());
  EXPECT_EQ(words_of("a"), Words({"a"}));
  EXPECT_EQ(words_of(" a\tb\nc\rd "), Words({"a", "b", "c", "d"}));
  EXPECT_EQ(words_of("a  b"), Words({"a", "b"}));
}

TEST(ShellWords, QuotesKeepWordsTogether) {
  EXPECT_EQ(words_of("'a b' \"c d\""), Words({"a b", "c d"}));
  EXPECT_EQ(words_of("'a'\"b\"c'd'"), Words({"abcd"}));
  EXPECT_EQ(words_of("'' \"\""), Words({"", ""}));
  EXPECT_EQ(words_of("''"), Words({""}));
  EXPECT_EQ(words_of("'\"' \"'\""), Words({"\"", "'"}));
}

TEST(ShellWords, ABackslashTakesTheNextSign) {
  EXPECT_EQ(words_of("a\\ b \\'c \\\\ \\n"), Words({"a b", "'c", "\\", "n"}));
  EXPECT_EQ(words_of("\\ "), Words({" "})) << "a word of its own";
  EXPECT_EQ(words_of("'a\\b'"), Words({"a\\b"})) << "not within such quotes";
  EXPECT_EQ(words_of("\"a\\\"b\""), Words({"a\"b"}));
  EXPECT_EQ(words_of("\"\\\\ \\$ \\` \\n\""), Words({"\\ $ ` \\n"}))
      << "within these only before four";
}

TEST(ShellWords, WhatIsLeftOpenIsRefused) {
  Words words;
  EXPECT_FALSE(shell_words("a 'b", words));
  EXPECT_FALSE(shell_words("\"b", words));
  EXPECT_FALSE(shell_words("a\\", words));
  EXPECT_FALSE(shell_words("\\", words));
}

TEST(ShellWords, AreQuotedWhereAShellWouldChangeThem) {
  EXPECT_EQ(shell_quoted("plain-1_./=,:+@%^Z"), "plain-1_./=,:+@%^Z");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("a*"), "'a*'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

}  // namespace
}  // namespace gable

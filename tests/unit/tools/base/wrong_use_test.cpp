// SPDX-License-Identifier: Apache-2.0
#include "tools/base/wrong_use.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace gable {
namespace {

TEST(QuotedPiece, HoldsTwoHundredBytes) {
  EXPECT_EQ(quoted_piece(std::string(199, 'a')), std::string(199, 'a'));
  EXPECT_EQ(quoted_piece(std::string(200, 'a')), std::string(200, 'a'));
  EXPECT_EQ(quoted_piece(std::string(200, 'a') + "b"), std::string(200, 'a'));
  EXPECT_EQ(quoted_piece(""), "");
}

TEST(QuotedPiece, ShowsWhatIsNotPlainAsAQuestionMark) {
  EXPECT_EQ(quoted_piece("\x1f \x7e\x7f"), "? ~?");
  EXPECT_EQ(quoted_piece("a\nb\tc"), "a?b?c");
  EXPECT_EQ(quoted_piece("\x80\xff"), "??");
}

TEST(PrintLine, IsOneWholeLine) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  print_line(file, "one");
  print_line(file, "two");
  std::rewind(file);
  char text[20] = {};
  const std::size_t size = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  EXPECT_EQ(std::string(text, size), "one\ntwo\n");
}

TEST(ExitCodes, AreWhatScriptsRelyOn) {
  EXPECT_EQ(kExitGood, 0);
  EXPECT_EQ(kExitWrongUse, 2);
}

TEST(Say, IsOneLineToStandardError) {
  testing::internal::CaptureStderr();
  say("That is wrong.");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gable: That is wrong.\n");
}

TEST(Say, ShortensWhatIsLongerThanAThousand) {
  const auto said = [](std::size_t size) {
    testing::internal::CaptureStderr();
    say(std::string(size, 'a'));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said(1000), "gable: " + std::string(1000, 'a') + "\n");
  const std::string longer = said(1001);
  EXPECT_NE(longer, "gable: " + std::string(1001, 'a') + "\n");
  EXPECT_LT(longer.size(), 1020u);
  EXPECT_GT(longer.size(), 990u);
}

}  // namespace
}  // namespace gable

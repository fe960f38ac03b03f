// SPDX-License-Identifier: Apache-2.0
// Names made fit: which bytes are a character, and where a long name is cut.
#include "analysis/base/text.h"

#include <gtest/gtest.h>

#include "analysis/base/plain_file.h"

namespace gable {
namespace {

// The borders of Unicode's table 3-7.
TEST(CleanNames, AreWellFormed) {
  for (const char* good :
       {"", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xE0\xBF\xBF", "\xE1\x80\x80",
        "\xEC\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80",
        "\xF0\xBF\xBF\xBF", "\xF1\x80\x80\x80", "\xF3\xBF\xBF\xBF", "\xF4\x80\x80\x80",
        "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_clean_name(good)) << good;
    EXPECT_EQ(clean_name(good), good);
  }
  for (const char* bad :
       {"\x80", "\xBF", "\xC1\xBF", "\xC2", "\xC2\x7F", "\xC2\xC0", "\xE0\x9F\xBF", "\xE0\xA0",
        "\xE1\x80\x7F", "\xE1\x80\xC0", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF1\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"})
    EXPECT_FALSE(is_clean_name(bad)) << bad;
}

TEST(CleanNames, EveryIllFormedPartIsOneSign) {
  EXPECT_EQ(clean_name("\xF1\x80\x80z"), "\xEF\xBF\xBDz");
  EXPECT_EQ(clean_name("\xF4\x90\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(clean_name("\xE1\x80\xE1"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

// An ellipsis has three bytes.
TEST(CleanNames, AreCutOnABorderWithRoomForTheEllipsis) {
  EXPECT_EQ(clean_name("abcdefg", 7), "abcdefg");
  EXPECT_EQ(clean_name("abcdefgh", 7), "abcd\xE2\x80\xA6");
  EXPECT_EQ(clean_name("ab\xC3\xA4zzzz", 7), "ab\xC3\xA4\xE2\x80\xA6");
  EXPECT_EQ(clean_name("abc\xC3\xA4zzz", 7), "abc\xE2\x80\xA6");
  EXPECT_EQ(clean_name("abcdef", 3), "\xE2\x80\xA6");
  EXPECT_EQ(kMaxNameBytes, 512u);
  EXPECT_TRUE(is_clean_name(std::string(512, 'x')));
  EXPECT_FALSE(is_clean_name(std::string(513, 'x')));
}

// The begin, the last 160 bytes, and FNV-1a of the whole, in 8 digits.
TEST(FittingNames, HaveBeginEndAndNumber) {
  EXPECT_EQ(fitting_name(std::string(512, 'x')), std::string(512, 'x'));
  const std::string name = std::string(400, 'a') + std::string(160, 'z');
  const std::string fitting = fitting_name(name);
  EXPECT_EQ(fitting, std::string(512 - 160 - 10 - 3, 'a') + "\xE2\x80\xA6" + std::string(160, 'z') +
                         fitting.substr(502));
  EXPECT_EQ(fitting.substr(502, 2), " #");
  EXPECT_EQ(fitting.substr(504).find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(fitting_name(std::string(201, '\0'), 200).substr(190), " #27d346ff");
  // The end begins with a whole character.
  const std::string cut = std::string(400, 'a') + "\xC3\xA4" + std::string(159, 'z');
  EXPECT_EQ(fitting_name(cut).find("\xE2\x80\xA6" + std::string(159, 'z') + " #"),
            512 - 159 - 10 - 3);
}

TEST(DemangledNames, AreThoseOfFunctions) {
  EXPECT_EQ(demangled("a_Z1fv"), "a_Z1fv");
  EXPECT_EQ(demangled("_Z1fv"), "f()");
}

TEST(PlainFile, IsReadWholeOrNotAtAll) {
  const auto text = read_plain_file("/proc/self/smaps");  // longer than one piece
  ASSERT_TRUE(text);
  EXPECT_GT(text->size(), 4096u);
  EXPECT_EQ(text->back(), '\n');
  EXPECT_FALSE(read_plain_file("/none"));
  EXPECT_FALSE(read_plain_file("/"));
  EXPECT_FALSE(read_to_end(-1));
}

}  // namespace
}  // namespace gable

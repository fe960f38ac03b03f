// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, and text that fits into columns.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/base/display.h"
#include "analysis/base/text.h"

namespace gable::tests {
namespace {

TEST(Display, ThreeDigitsWithoutAnExponent) {
  const std::pair<double, const char*> expected[] = {
      {0, "0"},         {1, "1.00"},      {1.234, "1.23"},   {9.994, "9.99"},    {9.995, "10.0"},
      {9.9949, "9.99"}, {99.94, "99.9"},  {99.95, "100"},    {123.4, "123"},     {1234.5, "1234"},
      {0.5, "0.500"},   {0.9996, "1.00"}, {0.0005, "0.001"}, {0.0004, "<0.001"}, {-12.34, "-12.3"}};
  for (const auto& [value, text] : expected) EXPECT_EQ(digits(value), text) << value;
  EXPECT_EQ(digits(std::nullopt), "-");
}

TEST(Display, PrefixesAtTheirEdges) {
  const std::pair<double, const char*> expected[] = {
      {0, "0 FLOP"},          {999, "999 FLOP"},          {999.4, "999 FLOP"},
      {999.5, "1.00 kFLOP"},  {1000, "1.00 kFLOP"},       {999499, "999 kFLOP"},
      {999500, "1.00 MFLOP"}, {8178368512, "8.18 GFLOP"}, {1e12, "1.00 TFLOP"},
      {2.5e15, "2.50 PFLOP"}, {3e18, "3.00 EFLOP"},       {5e21, "5000 EFLOP"}};
  for (const auto& [value, text] : expected) EXPECT_EQ(with_prefix(value, "FLOP"), text) << value;
  EXPECT_EQ(with_prefix(std::nullopt, "FLOP"), "unknown");
}

TEST(Display, Durations) {
  const std::pair<double, const char*> expected[] = {
      {0, "0 ns"},        {1, "1.00 ns"},       {999, "999 ns"},  {999.6, "1.00 us"},
      {817000, "817 us"}, {1234567, "1.23 ms"}, {6e10, "60.0 s"}, {0.25, "0.250 ns"}};
  for (const auto& [value, text] : expected) EXPECT_EQ(duration(value), text) << value;
  EXPECT_EQ(duration(std::nullopt), "-");
}

TEST(Display, Percentages) {
  EXPECT_EQ(percent(0.1234), "12.3 %");
  EXPECT_EQ(percent(1), "100 %");
  EXPECT_EQ(percent(0), "0 %");
  EXPECT_EQ(percent(0.000001), "<0.001 %");
  EXPECT_EQ(percent(std::nullopt), "-");
}

TEST(Display, LongTextIsCutAndSaysSo) {
  EXPECT_EQ(shorten_middle("ResNet/layer1", 20), "ResNet/layer1");
  EXPECT_EQ(shorten_middle("ResNet/layer1/0/conv1", 13), "ResN…/0/conv1");
  EXPECT_EQ(shorten_middle("abc", 1), "…");
  EXPECT_EQ(shorten_middle("abc", 0), "");
  EXPECT_EQ(shorten_end("abcdef", 4), "abc…");
  EXPECT_EQ(shorten_end("abcd", 4), "abcd");
  for (const std::size_t columns : {4u, 5u, 6u, 7u}) {
    EXPECT_LE(display_width(shorten_middle("層層層層層層", columns)), columns);
    EXPECT_LE(display_width(shorten_end("層層層層層層", columns)), columns);
  }
}

TEST(Display, WidthsOfATerminal) {
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("é…"), 2u);
  EXPECT_EQ(display_width("層"), 2u);
  EXPECT_EQ(display_width("e\xCC\x81"), 1u);  // a combining mark
  EXPECT_EQ(one_line("a\nb\tc\x1B[31m"), "a b c\\x1b[31m");
  EXPECT_EQ(one_line("\x9b\xff\x80 \xc2\x9b"), "\\x9b\\xff\\x80 \\x9b");
  EXPECT_EQ(one_line("a\u202eb\u2066c\u200fd\ufeff\u2028"),
            "a\\u202eb\\u2066c\\u200fd\\ufeff\\u2028");
  EXPECT_EQ(one_line("\xed\xa0\x80|\xf5\x80\x80\x80|\xc0\xaf|\xe2\x82"),
            "\\ud800|\\xf5\\x80\\x80\\x80|\\xc0\\xaf|\\xe2\\x82");
  EXPECT_EQ(one_line("naïve 模型 👩‍💻"), "naïve 模型 👩‍💻");
}

TEST(Display, WidthsAtTheBordersOfBlocks) {
  for (const char* one :
       {"\u02FF", "\u0370", "\u10FF", "\u1160", "\u2E7F", "\u303F", "\u3040", "\uA4D0", "\uABFF",
        "\uD7A4", "\uF8FF", "\uFB00", "\uFF61", "\U0001F2FF", "\U0001F650", "\U0003FFFE"})
    EXPECT_EQ(display_width(one), 1u) << one;
  for (const char* two : {"\u1100", "\u115F", "\u2E80", "\u303E", "\uAC00", "\uD7A3", "\uFF60",
                          "\U0001F300", "\U0001F64F", "\U00020000", "\U0003FFFD"})
    EXPECT_EQ(display_width(two), 2u) << two;
  for (const char* none : {"\u0300", "\u036F"}) EXPECT_EQ(display_width(none), 0u) << none;
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("a\u1100z\u0300"), 4u);
}

TEST(Display, OneLineShowsWhatIsNotSeen) {
  EXPECT_EQ(one_line(" ~\x7F\u009F\u00A0"), " ~\\x7f\\x9f\u00A0");
  EXPECT_EQ(one_line("a\rb"), "a b");
  EXPECT_EQ(one_line("\u200A\u200B\u200C|\u2027\u202E\u202F|\u205F\u206F\u2070"),
            "\u200A\\u200b\u200C|\u2027\\u202e\u202F|\u205F\\u206f\u2070");
  EXPECT_EQ(one_line("\U000E0000\U000E007F\U000E0080"), "\\ue0000\\ue007f\U000E0080");
  // At the borders of what two, three and four bytes may say.
  EXPECT_EQ(one_line("\xC2\xA1\xE0\xA0\x80\xF0\x90\x80\x80"),
            "\xC2\xA1\xE0\xA0\x80\xF0\x90\x80\x80");
  EXPECT_EQ(one_line("\xF4\x8F\xBF\xBF"), "\xF4\x8F\xBF\xBF");
  EXPECT_EQ(one_line("\xC1\xBF|\xE0\x9F\xBF|\xF0\x8F\xBF\xBF|\xF4\x90\x80\x80"),
            "\\xc1\\xbf|\\xe0\\x9f\\xbf|\\xf0\\x8f\\xbf\\xbf|\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(one_line("\xC3"), "\\xc3");
  EXPECT_EQ(one_line("\xC3z"), "\\xc3z");
}

TEST(Display, TextIsCutAtItsColumns) {
  EXPECT_EQ(shorten_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shorten_middle("abcdefghij", 9), "ab…efghij");
  EXPECT_EQ(shorten_middle("abcdefghij", 7), "ab…ghij");
  EXPECT_EQ(shorten_middle("abcdefghij", 3), "…ij");
  EXPECT_EQ(shorten_middle("層層層層層", 7), "層…層層");
  EXPECT_EQ(shorten_end("層層層", 5), "層層…");
  EXPECT_EQ(shorten_end("層層層", 4), "層…");
  EXPECT_EQ(shorten_end("ab", 1), "…");
}

TEST(Display, LinesOfWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(word_lines("ab cd ef", 5), (Lines{"ab cd", "ef"}));
  EXPECT_EQ(word_lines("ab cde f", 5), (Lines{"ab", "cde f"}));
  EXPECT_EQ(word_lines("abcdefg h", 3), (Lines{"abcdefg", "h"}));
  EXPECT_EQ(word_lines("  a  b ", 9), Lines{"a b"});
  EXPECT_EQ(word_lines("", 9), Lines{""});
}

TEST(Display, SignedPercentages) {
  EXPECT_EQ(signed_percent(0.123), "+12.3 %");
  EXPECT_EQ(signed_percent(-0.005), "-0.500 %");
  EXPECT_EQ(signed_percent(0), "0 %");
  EXPECT_EQ(signed_percent(std::nullopt), "-");
}

TEST(Text, BadBytesAndLongNamesAreMadeFit) {
  EXPECT_EQ(clean_name("ok \xE2\x82\xAC"), "ok \xE2\x82\xAC");
  EXPECT_EQ(clean_name("a\xFF"
                       "b"),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(clean_name("a\xE2\x82"), "a\xEF\xBF\xBD");  // one for a cut character
  EXPECT_EQ(clean_name("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
  EXPECT_EQ(clean_name("abcdef", 5), "ab\xE2\x80\xA6");
  EXPECT_EQ(clean_name("\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC", 8), "\xE2\x82\xAC\xE2\x80\xA6");
  EXPECT_TRUE(is_clean_name("abc", 3));
  EXPECT_FALSE(is_clean_name("abcd", 3));
  EXPECT_EQ(clean_name(std::string(1 << 20, 'x')).size(), kMaxNameBytes);
}

TEST(Text, NamesAsWrittenInCpp) {
  EXPECT_EQ(demangled("_Z6kernelPfi"), "kernel(float*, int)");
  EXPECT_EQ(demangled("volta_sgemm_128x64_nn"), "volta_sgemm_128x64_nn");
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
  EXPECT_EQ(demangled(""), "");
}

}  // namespace
}  // namespace gable::tests

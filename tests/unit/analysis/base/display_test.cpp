// SPDX-License-Identifier: Apache-2.0
// Numbers as people read them, and text that fits into columns.
#include <gtest/gtest.h>

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

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "analysis/base/display.h"
#include "analysis/base/number_text.h"
#include "tests/unit/temporary_folder.h"

namespace gable::tests {
namespace {

TEST(NumberText, SignificantDigits) {
  EXPECT_EQ(significant(1.98, 4), "1.98");
  EXPECT_EQ(significant(1.97999, 4), "1.98");
  EXPECT_EQ(significant(0.00012345, 3), "0.000123");
  EXPECT_EQ(significant(2e12, 4), "2e+12");
  EXPECT_EQ(significant(0, 4), "0");
  EXPECT_EQ(significant(0.1, 17), "0.10000000000000001");
}

TEST(NumberText, Decimals) {
  EXPECT_EQ(decimals(1.98, 3), "1.980");
  EXPECT_EQ(decimals(-0.125, 1), "-0.1");
  EXPECT_EQ(decimals(2.5, 0), "2");
  EXPECT_EQ(decimals(std::numeric_limits<double>::max(), 2).size(), 312U);
  EXPECT_EQ(decimals(std::numeric_limits<double>::infinity(), 2), "inf");
}

// The library's texts are those of every other program, whatever locale this one set.
TEST(NumberText, NoDecimalCommaOfTheProgram) {
  const TemporaryFolder folder;
  const std::string source = folder.file("source",
                                         "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\n"
                                         "grouping 3;3\nEND LC_NUMERIC\n");
  // It warns that the other categories are missing, and ends with 1.
  (void)std::system(
      ("localedef -c -i " + source + " " + folder.at("comma") + " 2>" + folder.at("warnings"))
          .c_str());
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  setenv("LOCPATH", folder.path().c_str(), 1);
  ASSERT_NE(std::setlocale(LC_NUMERIC, "comma"), nullptr)
      << "localedef made none: install Debian's locales";
  std::array<char, 8> printed{};
  (void)std::snprintf(printed.data(), printed.size(), "%.2f", 1.98);
  const std::vector<std::string> texts = {significant(1.98, 4), decimals(1.98, 3),
                                          duration(1234567), with_prefix(1.5e9, "B")};
  std::setlocale(LC_NUMERIC, before.c_str());
  unsetenv("LOCPATH");
  EXPECT_STREQ(printed.data(), "1,98");
  EXPECT_EQ(texts, (std::vector<std::string>{"1.98", "1.980", "1.23 ms", "1.50 GB"}));
}

}  // namespace
}  // namespace gable::tests

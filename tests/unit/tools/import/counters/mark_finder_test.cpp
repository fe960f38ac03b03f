// SPDX-License-Identifier: Apache-2.0
#include "tools/import/counters/mark_finder.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace gable {
namespace {

using Texts = std::vector<const char*>;

MarkFinder seen(const Texts& texts) {
  MarkFinder finder;
  for (const char* text : texts) finder.see(text);
  return finder;
}

TEST(MarkFinder, TheFirstNumberThatTellsDecides) {
  EXPECT_EQ(seen({"1.234", "n/a", "1.5"}).mark(), DecimalMark::point);
  EXPECT_EQ(seen({"1.234", "1.234.567"}).mark(), DecimalMark::comma);
  EXPECT_EQ(seen({"15,36", "1.5"}).mark(), DecimalMark::comma);
  EXPECT_FALSE(seen({"1.234", "17", "1234"}).mark());
}

TEST(MarkFinder, DoubtBeginsWithANumberThatReadsTwoWaysAndEndsWithOneThatTells) {
  EXPECT_FALSE(seen({"17", "n/a", "1234"}).is_in_doubt());
  EXPECT_TRUE(seen({"17", "1,234"}).is_in_doubt());
  EXPECT_FALSE(seen({"1,234", "0,5"}).is_in_doubt());
  EXPECT_EQ(seen({"17", "1,234", "5,678"}).first_doubt(), "1,234");
}

TEST(MarkFinder, AtTheEndWhatOtherNumbersHaveBetweenGroupsDecides) {
  const std::pair<Texts, std::optional<DecimalMark>> all[] = {
      {{"17", "n/a"}, DecimalMark::point},         {{"1,234", "17"}, DecimalMark::point},
      {{"1,234", "1234"}, std::nullopt},           {{"1.234", "17"}, std::nullopt},
      {{"1.234", "1234"}, std::nullopt},           {{"1.234", "1,234"}, std::nullopt},
      {{"1.234", "1,234", "1 234"}, std::nullopt}, {{"1,234", "1 234"}, DecimalMark::comma},
      {{"1'234", "1.234"}, DecimalMark::point},
  };
  for (const auto& [texts, mark] : all) {
    MarkFinder finder = seen(texts);
    EXPECT_EQ(finder.decide(), mark) << texts.front() << " " << texts.back();
    EXPECT_EQ(finder.mark(), mark);
  }
}

}  // namespace
}  // namespace gable

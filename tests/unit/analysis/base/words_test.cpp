// SPDX-License-Identifier: Apache-2.0
// Words of enums, kinds of characters, units, and numbers that may be unknown.
#include "analysis/base/words.h"

#include <gtest/gtest.h>

#include "analysis/base/ascii.h"
#include "analysis/base/maybe.h"
#include "analysis/base/units.h"

namespace gable {

enum class Fruit { apple, pear, plum, none };
enum class Yes { yes };
template <>
inline constexpr auto kWordsOf<Fruit> = std::to_array<Word<Fruit>>({{Fruit::apple, "apple"},
                                                                    {Fruit::pear, "pear"},
                                                                    {Fruit::plum, "plum"}});
template <>
inline constexpr auto kWordsOf<Yes> = std::to_array<Word<Yes>>({{Yes::yes, "yes"}});

namespace {

TEST(WordsOf, AnEnum) {
  EXPECT_EQ(to_string(Fruit::pear), "pear");
  EXPECT_EQ(word_of(Fruit::plum), "plum");
  EXPECT_EQ(word_of(Fruit::none), "");
  EXPECT_EQ(value_of<Fruit>("apple"), Fruit::apple);
  EXPECT_EQ(value_of<Fruit>("plum"), Fruit::plum);
  EXPECT_EQ(value_of<Fruit>("pea"), std::nullopt);
  EXPECT_EQ(value_of<Fruit>(""), std::nullopt);
  EXPECT_EQ(choice_of_words<Fruit>(), "'apple', 'pear' or 'plum'");
  EXPECT_EQ(choice_of_words<Yes>(), "'yes'");
}

TEST(KindOf, Characters) {
  for (const char c : {'A', 'M', 'Z'})
    EXPECT_TRUE(is_upper(c) && is_alnum(c) && !is_lower(c) && !is_digit(c)) << c;
  for (const char c : {'a', 'm', 'z'})
    EXPECT_TRUE(is_lower(c) && is_alnum(c) && !is_upper(c) && !is_digit(c)) << c;
  for (const char c : {'0', '5', '9'})
    EXPECT_TRUE(is_digit(c) && is_alnum(c) && !is_upper(c) && !is_lower(c)) << c;
  for (const char c : {'/', ':', '@', '[', '`', '{', '_', ' ', '\0', '\xE4'})
    EXPECT_FALSE(is_upper(c) || is_lower(c) || is_digit(c) || is_alnum(c)) << c;
}

TEST(Units, ArePowersOfTen) {
  EXPECT_EQ(kMega, 1'000'000);
  EXPECT_EQ(kGiga, 1'000'000'000);
  EXPECT_EQ(kTera, 1'000'000'000'000);
  EXPECT_EQ(kNsPerSecond, 1'000'000'000);
}

TEST(QuotientOf, KnownParts) {
  EXPECT_EQ(quotient(6, 4), 1.5);
  EXPECT_EQ(quotient(6, 4, 10), 15);
  EXPECT_EQ(quotient(0, 4), 0);
  EXPECT_EQ(quotient(6, 0.5), 12);
  for (const Maybe& bottom : {Maybe(0), Maybe(-1), Maybe()})
    EXPECT_EQ(quotient(6, bottom), Maybe());
  EXPECT_EQ(quotient(Maybe(), 4), Maybe());
}

}  // namespace
}  // namespace gable

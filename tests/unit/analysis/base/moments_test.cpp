// SPDX-License-Identifier: Apache-2.0
// Mean, median, spread and extremes of durations, and of two sets of them as one.
#include "analysis/base/moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace gable {
namespace {

Moments of(std::initializer_list<std::uint64_t> values) {
  Moments moments;
  for (const auto value : values) moments.add(value);
  return moments;
}

TEST(MomentsOf, KnownValues) {
  const Moments moments = of({40, 10, 20, 90});
  EXPECT_EQ(moments.count(), 4u);
  EXPECT_EQ(moments.sum(), 160u);
  EXPECT_EQ(moments.mean(), 40.0);
  EXPECT_EQ(moments.median(), 30.0);
  EXPECT_EQ(moments.min(), 10.0);
  EXPECT_EQ(moments.max(), 90.0);
  EXPECT_DOUBLE_EQ(*moments.stddev(), std::sqrt((900.0 + 400 + 2500) / 3));
  EXPECT_EQ(of({3, 1, 2}).median(), 2.0);
}

TEST(MomentsOf, NoneAndOne) {
  const Moments none;
  EXPECT_FALSE(none.mean() || none.median() || none.min() || none.max() || none.stddev());
  const Moments one = of({7});
  EXPECT_EQ(one.mean(), 7.0);
  EXPECT_EQ(one.median(), 7.0);
  EXPECT_FALSE(one.stddev());
}

TEST(MomentsOf, TwoSetsAsOne) {
  Moments both = of({40, 10});
  both.merge(of({20, 90, 5}));
  const Moments expected = of({40, 10, 20, 90, 5});
  EXPECT_EQ(both.count(), 5u);
  EXPECT_EQ(both.sum(), expected.sum());
  EXPECT_EQ(both.median(), expected.median());
  EXPECT_EQ(both.min(), 5.0);
  EXPECT_EQ(both.max(), 90.0);
  EXPECT_NEAR(*both.stddev(), *expected.stddev(), 1e-9);
  both.merge(Moments());
  EXPECT_EQ(both.count(), 5u);
  EXPECT_NEAR(*both.stddev(), *expected.stddev(), 1e-9);
  Moments nothing;
  nothing.merge(expected);
  EXPECT_EQ(nothing.mean(), expected.mean());
  EXPECT_EQ(nothing.median(), expected.median());
  EXPECT_NEAR(*nothing.stddev(), *expected.stddev(), 1e-9);
  nothing.add(100);  // goes on as if all had been added here
  EXPECT_NEAR(*nothing.stddev(), *of({40, 10, 20, 90, 5, 100}).stddev(), 1e-9);
}

TEST(MomentsOf, TheMedianOfManyIsThatOfAFairSample) {
  Moments rising, falling;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    rising.add(i);
    falling.add(10'000 - i);
  }
  EXPECT_NEAR(*rising.median(), 5'000, 2'000);
  EXPECT_NEAR(*falling.median(), 5'000, 2'000);
  Moments again;
  for (std::uint64_t i = 0; i < 10'000; ++i) again.add(i);
  EXPECT_EQ(again.median(), rising.median());  // the same input, the same output
  Moments few;
  for (std::uint64_t i = 0; i < Moments::kSamples; ++i) few.add(i);
  EXPECT_EQ(few.median(), 31.5);  // exact up to here
}

// In halves, and in sets of the sizes that windows have.
TEST(MomentsOf, TheMedianOfMergedSetsIsThatOfAFairSample) {
  constexpr std::uint64_t kValues = 20'000;
  for (const std::uint64_t size : {1, 3, 10, 64, 65, 100, 1'000, 10'000}) {
    Moments all;
    for (std::uint64_t first = 0; first < kValues; first += size) {
      Moments set;
      for (std::uint64_t i = first; i < std::min(first + size, kValues); ++i) set.add(i);
      all.merge(set);
    }
    EXPECT_EQ(all.count(), kValues);
    EXPECT_NEAR(*all.median(), kValues / 2.0, kValues / 6.0) << "sets of " << size;
  }
}

TEST(MomentsOf, ASmallSetIsMergedIntoALargeOneAsTheLargeIntoTheSmall) {
  Moments large, small = of({1, 2, 3});
  for (std::uint64_t i = 0; i < 10'000; ++i) large.add(1'000'000 + i);
  Moments one = large, other = small;
  one.merge(small);
  other.merge(large);
  EXPECT_NEAR(*one.median(), 1'005'000, 2'500);
  EXPECT_NEAR(*other.median(), 1'005'000, 2'500);
  EXPECT_EQ(one.count(), other.count());
}

// A sample is drawn by a fixed sequence: the same numbers on every machine.
TEST(MomentsOf, TheSampleIsTheSameEverywhere) {
  Moments rising, squares;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    rising.add(i);
    squares.add(i * i);
  }
  EXPECT_EQ(rising.median(), 5234.5);
  Moments merged = rising;
  merged.merge(squares);
  EXPECT_EQ(merged.median(), 9491);
  Moments two;
  for (std::uint64_t first = 0; first < 2'000; first += 7) {
    Moments set;
    for (std::uint64_t i = 0; i < 7; ++i) set.add(first + i);
    two.merge(set);
  }
  EXPECT_EQ(two.median(), 988);
}

TEST(MomentsOf, UpTo64ValuesTheMedianOfMergedSetsIsExact) {
  EXPECT_EQ(Moments::kSamples, 64u);
  Moments low, high;
  for (std::uint64_t i = 0; i < 32; ++i) {
    low.add(i);
    high.add(100 + i);
  }
  low.merge(high);
  EXPECT_EQ(low.median(), 65.5);  // between 31 and 100
  EXPECT_EQ(of({5}).min(), 5.0);
  EXPECT_EQ(of({5}).max(), 5.0);
  EXPECT_EQ(of({5, 5}).stddev(), 0.0);
  EXPECT_EQ(of({4, 8}).median(), 6.0);
}

}  // namespace
}  // namespace gable

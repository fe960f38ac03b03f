// SPDX-License-Identifier: Apache-2.0
// How far numbers differ from window to window, worked out by hand.
#include "analysis/profile/spread.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

Spread of(std::initializer_list<double> values) {
  Spread spread;
  for (const double value : values) spread.add(value);
  return spread;
}

TEST(SpreadOf, MeanAndVariation) {
  const Spread spread = of({90, 100, 110});
  EXPECT_EQ(spread.windows, 3u);
  EXPECT_DOUBLE_EQ(spread.mean, 100);
  EXPECT_DOUBLE_EQ(spread.variation(), 0.1);  // of a sample: sqrt(200 / 2) / 100
  EXPECT_EQ(spread.low, 90);
  EXPECT_EQ(spread.high, 110);
  EXPECT_DOUBLE_EQ(of({-90, -100, -110}).variation(), 0.1);
}

TEST(SpreadOf, WindowsUntilTheMeanIsKnownSoWell) {
  EXPECT_DOUBLE_EQ(of({90, 100, 110}).windows_for(0.02), 25);
  EXPECT_DOUBLE_EQ(of({90, 100, 110}).windows_for(0.1), 1);
  EXPECT_EQ(of({5, 5, 5}).windows_for(0.02), 0);
}

TEST(SpreadOf, OneWindowOrNoneSaysNothing) {
  EXPECT_EQ(of({}).variation(), 0);
  EXPECT_EQ(of({7}).variation(), 0);
  EXPECT_EQ(of({0, 0}).variation(), 0);
  EXPECT_FALSE(of({}).differs(0));
  EXPECT_FALSE(of({7}).differs(0));
}

TEST(SpreadOf, DiffersByMoreThanAShareOfTheLarger) {
  EXPECT_FALSE(of({99, 100}).differs(0.01));
  EXPECT_TRUE(of({98.9, 100}).differs(0.01));
  EXPECT_TRUE(of({100, 98.9, 99.5}).differs(0.01));
  EXPECT_TRUE(of({-100, -98.9}).differs(0.01));
}

TEST(SpreadOf, TurnsOfFlopsAndOfAllElse) {
  KeySpreads spreads;
  EXPECT_FALSE(spreads.takes_turns());
  spreads.saw(true, 1);
  EXPECT_FALSE(spreads.takes_turns());
  spreads.saw(false, 2);
  spreads.saw(true, 3);
  EXPECT_TRUE(spreads.takes_turns());
  spreads.saw(false, 5);
  EXPECT_FALSE(spreads.takes_turns());
}

}  // namespace
}  // namespace gable

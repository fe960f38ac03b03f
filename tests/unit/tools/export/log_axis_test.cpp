// SPDX-License-Identifier: Apache-2.0
#include "tools/export/log_axis.h"

#include <gtest/gtest.h>

#include <limits>

namespace gable::tests {
namespace {

TEST(LogAxis, ValuesToPixels) {
  const LogAxis axis(10, 1000, 100, 300);
  EXPECT_DOUBLE_EQ(axis.at(10), 100);
  EXPECT_DOUBLE_EQ(axis.at(100), 200);
  EXPECT_DOUBLE_EQ(axis.at(1000), 300);
  EXPECT_DOUBLE_EQ(axis.at(1), 0);
  EXPECT_DOUBLE_EQ(axis.low(), 10);
  EXPECT_DOUBLE_EQ(axis.high(), 1000);
  EXPECT_DOUBLE_EQ(LogAxis(1, 100, 50, 0).at(10), 25);  // upwards
}

TEST(LogAxis, DecadesWithBothEnds) {
  using Values = std::vector<double>;
  EXPECT_EQ(LogAxis(10, 1000, 0, 1).decades(), (Values{10, 100, 1000}));
  EXPECT_EQ(LogAxis(11, 999, 0, 1).decades(), (Values{100}));
  EXPECT_EQ(LogAxis(2, 9, 0, 1).decades(), Values{});
  // A value that rounding has put beside its power of ten.
  EXPECT_EQ(LogAxis(10 * (1 + 1e-10), 100 * (1 - 1e-10), 0, 1).decades(), (Values{10, 100}));
  EXPECT_EQ(LogAxis(10 * (1 + 1e-7), 100 * (1 - 1e-7), 0, 1).decades(), Values{});
}

TEST(LogAxis, ARangeHasRoomAtBothEnds) {
  Range range;
  for (const double value : {4.0, 3.0, 50.0, 7.0}) range.add(value);
  range.add(0);
  range.add(-1);
  range.add(std::numeric_limits<double>::infinity());
  range.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(range.low, 3);
  EXPECT_EQ(range.high, 50);
  const LogAxis axis = range.axis(10, 20);
  EXPECT_DOUBLE_EQ(axis.at(1.5), 10);
  EXPECT_DOUBLE_EQ(axis.at(100), 20);
}

TEST(LogAxis, ARangeOfNothingIsADecade) {
  Range range;
  EXPECT_EQ(range.low, 0);
  EXPECT_EQ(range.high, 0);
  const LogAxis axis = range.axis(5, 6);
  EXPECT_DOUBLE_EQ(axis.low(), 1);
  EXPECT_DOUBLE_EQ(axis.high(), 10);
  EXPECT_DOUBLE_EQ(axis.at(1), 5);
  EXPECT_DOUBLE_EQ(axis.at(10), 6);
  range.add(0.25);
  EXPECT_EQ(range.low, 0.25);
  EXPECT_EQ(range.high, 0.25);
}

}  // namespace
}  // namespace gable::tests

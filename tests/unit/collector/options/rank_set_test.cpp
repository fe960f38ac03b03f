// SPDX-License-Identifier: Apache-2.0
#include "collector/options/rank_set.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gable {
namespace {

// Those of the first 20 ranks that are in the set.
std::vector<int> ranks(const std::string& text) {
  const auto set = RankSet::parse(text);
  std::vector<int> held;
  for (int rank = 0; set && rank < 20; ++rank)
    if (set->holds(rank)) held.push_back(rank);
  return held;
}

TEST(RankSetOf, RanksAndSlices) {
  EXPECT_EQ(ranks("0"), (std::vector{0}));
  EXPECT_EQ(ranks("7,3"), (std::vector{3, 7}));
  EXPECT_EQ(ranks("2:5"), (std::vector{2, 3, 4}));
  EXPECT_EQ(ranks("0::8"), (std::vector{0, 8, 16}));
  EXPECT_EQ(ranks("1:10:4"), (std::vector{1, 5, 9}));
  EXPECT_EQ(ranks(":2,17:"), (std::vector{0, 1, 17, 18, 19}));
  EXPECT_EQ(ranks("::9"), (std::vector{0, 9, 18}));
  EXPECT_EQ(ranks(":").size(), 20u);
  EXPECT_TRUE(RankSet::parse("0::8")->holds(80'000));
  EXPECT_FALSE(RankSet::parse("0::8")->holds(80'001));
}

TEST(RankSetOf, WhatIsNoListIsRefused) {
  for (const std::string text : {"", ",", "0,", ",0", "0,,1", "x", "-1", "1.5", "0:8:0", "5:5",
                                 "5:2", "0:1:2:3", "0 ,1", "99999999999999999999", "2000000000000"})
    EXPECT_FALSE(RankSet::parse(text)) << text;
}

TEST(LeavesOut, OnlyARankThatIsToldAndNotHeld) {
  EXPECT_FALSE(leaves_out("", 3));
  EXPECT_FALSE(leaves_out("0::8", std::nullopt));
  EXPECT_FALSE(leaves_out("0::8", 8));
  EXPECT_TRUE(leaves_out("0::8", 3));
}

}  // namespace
}  // namespace gable

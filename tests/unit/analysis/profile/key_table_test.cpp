// SPDX-License-Identifier: Apache-2.0
// The table of launch keys has room for so many; the rarest are folded into "(other)", and no
// launch is lost by it.
#include "analysis/profile/key_table.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

LaunchKey key_of(FunctionId function) {
  LaunchKey key;
  key.function = function;
  return key;
}

std::size_t kept_rows(const KeyTable& keys) {
  std::size_t used = 0;
  for (KeyIndex i = 1; i < keys.rows().size(); ++i) used += keys.row(i).used ? 1 : 0;
  return used;
}

TEST(KeyTableOf, ASixteenthIsFoldedAtOnceAndTheRarestOfThem) {
  KeyTable keys(64);
  for (FunctionId function = 1; function <= 64; ++function)
    keys.row(keys.find_or_add(key_of(function), 5)).launches = 100 + function;
  EXPECT_EQ(keys.folded(), 0u);
  EXPECT_EQ(kept_rows(keys), 64u);
  // One more than there is room for: four go, those with the fewest launches.
  keys.row(keys.find_or_add(key_of(65), 5)).launches = 200;
  EXPECT_EQ(keys.folded(), 4u);
  EXPECT_EQ(kept_rows(keys), 61u);
  EXPECT_EQ(keys.row(kOtherKey).launches, 101u + 102 + 103 + 104);
  for (const FunctionId function : {5, 64, 65}) {
    const auto index = keys.find_or_add(key_of(function), 5);
    EXPECT_EQ(keys.row(index).key.function, function);
    EXPECT_GT(keys.row(index).launches, 0u) << function;
  }
  EXPECT_EQ(keys.folded(), 4u);
}

TEST(KeyTableOf, OfEquallyRareOnesTheLongestUnseenGoes) {
  KeyTable keys(2);
  keys.row(keys.find_or_add(key_of(1), 5)).launches = 7;
  keys.row(keys.find_or_add(key_of(2), 5)).launches = 7;
  (void)keys.find_or_add(key_of(1), 5);
  (void)keys.find_or_add(key_of(3), 5);
  EXPECT_EQ(keys.folded(), 1u);
  EXPECT_EQ(keys.row(keys.find_or_add(key_of(1), 5)).launches, 7u);
}

TEST(KeyTableOf, WhatAnOpenWindowHasStaysAndTheNewOneIsTurnedAwayOnce) {
  KeyTable keys(2);
  for (const FunctionId function : {1, 2})
    keys.row(keys.find_or_add(key_of(function), 5)).last_window = 5;
  for (int launch = 0; launch < 3; ++launch) EXPECT_EQ(keys.find_or_add(key_of(3), 5), kOtherKey);
  EXPECT_EQ(keys.folded(), 1u);  // one key, however often it comes
  keys.window_closed();
  const auto index = keys.find_or_add(key_of(3), 6);
  EXPECT_NE(index, kOtherKey);
  EXPECT_EQ(kept_rows(keys), 2u);
}

TEST(KeyTableOf, FoldingMovesEverythingThatWasMeasured) {
  KeyTable keys(1);
  KeyRow& row = keys.row(keys.find_or_add(key_of(1), 5));
  row.launches = 3;
  row.in_graphs = 2;
  row.window_launches.add(1, PhaseKind::flops, 4);
  row.time.add(10);
  row.time.add(30);
  row.counters.push_back({{5, 7}, {1, 2}, 2, 3, 4});
  (void)keys.find_or_add(key_of(2), 5);
  const KeyRow& other = keys.row(kOtherKey);
  EXPECT_EQ(other.launches, 3u);
  EXPECT_EQ(other.in_graphs, 2u);
  EXPECT_EQ(other.window_launches.all(PhaseKind::flops), 4u);
  EXPECT_EQ(other.window_launches.of(1, PhaseKind::flops), 4u);
  EXPECT_EQ(other.window_launches.of(0, PhaseKind::flops), 0u);
  EXPECT_EQ(other.time.count(), 2u);
  EXPECT_EQ(other.time.mean(), 20.0);
  ASSERT_EQ(other.counters.size(), 1u);
  EXPECT_EQ(other.counters[0].sum, (std::vector<double>{5, 7}));
  EXPECT_EQ(other.counters[0].known, (std::vector<std::uint64_t>{1, 2}));
  EXPECT_EQ(other.counters[0].samples, 2u);
  EXPECT_EQ(other.counters[0].ranges, 3u);
  EXPECT_EQ(other.counters[0].windows, 4u);
}

TEST(KeyTableOf, ManyKeysAreFoundAgain) {
  KeyTable keys(10'000);
  for (FunctionId function = 1; function <= 5000; ++function)
    keys.row(keys.find_or_add(key_of(function), 5)).launches = function;
  for (FunctionId function = 1; function <= 5000; ++function)
    ASSERT_EQ(keys.row(keys.find_or_add(key_of(function), 5)).launches, function);
  EXPECT_EQ(kept_rows(keys), 5000u);
  keys.clear();
  EXPECT_EQ(keys.rows().size(), 1u);
  EXPECT_EQ(keys.row(keys.find_or_add(key_of(3), 5)).launches, 0u);
}

}  // namespace
}  // namespace gable

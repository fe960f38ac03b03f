// SPDX-License-Identifier: Apache-2.0
// Launches and copies that wait for their records, and ids whose records do not matter.
#include "analysis/profile/correlation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "tests/unit/analysis/unsaid.h"

namespace gable::tests {
namespace {

PendingLaunch pending(std::uint32_t correlation, WindowId window = 1) {
  PendingLaunch launch;
  launch.correlation = correlation;
  launch.key = correlation * 2;
  launch.window = window;
  return launch;
}

TEST(PendingLaunchesOf, AnIdIsTakenOnce) {
  expect_zeros(PendingLaunch().correlation, PendingLaunch().window, PendingLaunch().in_range);
  PendingLaunches launches(10);
  EXPECT_FALSE(launches.take(5));
  EXPECT_TRUE(launches.insert(pending(5)));
  EXPECT_TRUE(launches.insert(pending(6)));
  EXPECT_EQ(launches.size(), 2u);
  const auto taken = launches.take(5);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->key, 10u);
  EXPECT_FALSE(launches.take(5));
  EXPECT_EQ(launches.size(), 1u);
  EXPECT_TRUE(launches.take(6));
  EXPECT_EQ(launches.size(), 0u);
}

TEST(PendingLaunchesOf, TheSameIdReplaces) {
  PendingLaunches launches(2);
  EXPECT_TRUE(launches.insert(pending(5, 1)));
  EXPECT_TRUE(launches.insert(pending(5, 2)));
  EXPECT_EQ(launches.size(), 1u);
  EXPECT_TRUE(launches.insert(pending(6)));
  EXPECT_FALSE(launches.insert(pending(7)));  // full
  EXPECT_TRUE(launches.insert(pending(6, 3)));
  EXPECT_EQ(launches.take(5)->window, 2u);
  EXPECT_EQ(launches.take(6)->window, 3u);
  EXPECT_FALSE(launches.take(7));
}

// Many, far apart and close together, taken in another order: gaps close behind each.
TEST(PendingLaunchesOf, ManyAreAllFound) {
  PendingLaunches launches(100'000);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 6'000; ++i) ids.push_back(1 + i * 64);
  for (std::uint32_t i = 0; i < 6'000; ++i) ids.push_back(0x80000000u + i);
  for (const auto id : ids) ASSERT_TRUE(launches.insert(pending(id)));
  EXPECT_EQ(launches.size(), ids.size());
  std::set<std::uint32_t> seen;
  launches.for_each([&](const PendingLaunch& launch) { seen.insert(launch.correlation); });
  EXPECT_EQ(seen.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); i += 2) ASSERT_TRUE(launches.take(ids[i])) << i;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto taken = launches.take(ids[i]);
    ASSERT_EQ(taken.has_value(), i % 2 == 1) << i;
    ASSERT_EQ(taken.value_or(PendingLaunch()).key, i % 2 == 1 ? ids[i] * 2 : kOtherKey) << i;
  }
  EXPECT_EQ(launches.size(), 0u);
}

// Put in and taken in a random order, with ids that lie close, that share a home and that are there
// already: a map, which is slower, says the same.
TEST(PendingLaunchesOf, AMapSaysTheSame) {
  std::mt19937 random(11);
  PendingLaunches launches(3'000);
  std::map<std::uint32_t, WindowId> expected;
  for (std::uint32_t turn = 1; turn <= 200'000; ++turn) {
    const std::uint32_t id = 1 + random() % 500 + (random() % 40) * 0x10000u;
    if (turn % 50'000 == 0) {
      const WindowId gone = random() % 4;
      launches.take_window(gone, [&](const PendingLaunch& launch) {
        ASSERT_EQ(expected.at(launch.correlation), gone);
        expected.erase(launch.correlation);
      });
      ASSERT_TRUE(std::none_of(expected.begin(), expected.end(),
                               [&](const auto& each) { return each.second == gone; }));
    } else if (random() % (turn % 40'000 < 20'000 ? 3 : 2) != 0) {
      const WindowId window = random() % 4;
      const bool room = expected.contains(id) || expected.size() < 3'000;
      ASSERT_EQ(launches.insert(pending(id, window)), room) << turn;
      if (room) expected[id] = window;
    } else {
      const auto taken = launches.take(id);
      ASSERT_EQ(taken.has_value(), expected.contains(id)) << turn;
      if (taken) {
        ASSERT_EQ(taken->correlation, id);
        ASSERT_EQ(taken->window, expected[id]);
      }
      expected.erase(id);
    }
    ASSERT_EQ(launches.size(), expected.size()) << turn;
  }
  EXPECT_FALSE(launches.take(0));  // no id
}

TEST(PendingLaunchesOf, AWindowIsTakenWhole) {
  PendingLaunches launches(10);
  launches.take_window(1, [](const PendingLaunch&) { FAIL(); });
  for (std::uint32_t id = 1; id <= 6; ++id) launches.insert(pending(id, id % 2));
  std::set<std::uint32_t> removed;
  launches.take_window(1, [&](const PendingLaunch& launch) { removed.insert(launch.correlation); });
  EXPECT_EQ(removed, (std::set<std::uint32_t>{1, 3, 5}));
  EXPECT_EQ(launches.size(), 3u);
  EXPECT_FALSE(launches.take(3));
  EXPECT_TRUE(launches.take(4));
}

TEST(RecentCorrelationsOf, ASpanOfIdsBehindTheNewest) {
  constexpr std::uint32_t kSpan = 4'194'304;
  EXPECT_EQ(RecentCorrelations::kSpan, kSpan);
  RecentCorrelations recent;
  EXPECT_FALSE(recent.contains(1));
  recent.insert(0);
  EXPECT_FALSE(recent.contains(0));
  recent.insert(1'000);
  EXPECT_TRUE(recent.contains(1'000));
  EXPECT_FALSE(recent.contains(999));
  EXPECT_FALSE(recent.contains(1'001));
  recent.insert(990);  // behind the newest
  EXPECT_TRUE(recent.contains(990));
  recent.insert(1'000 + kSpan - 1);  // the first is just inside
  EXPECT_TRUE(recent.contains(1'000));
  EXPECT_FALSE(recent.contains(990));
  EXPECT_FALSE(recent.contains(1'100));
  recent.insert(1'000 + kSpan);  // takes the place of the first
  EXPECT_TRUE(recent.contains(1'000 + kSpan));
  EXPECT_FALSE(recent.contains(1'000));
  recent.insert(1'000);  // too old
  EXPECT_FALSE(recent.contains(1'000));
  EXPECT_TRUE(recent.contains(1'000 + kSpan));
  recent.insert(500 + kSpan);
  recent.insert(1'001 + kSpan);
  EXPECT_TRUE(recent.contains(500 + kSpan));
  // What lay between is forgotten with a long jump.
  recent.insert(3 * kSpan);
  EXPECT_FALSE(recent.contains(500 + kSpan));
  EXPECT_TRUE(recent.contains(3 * kSpan));
}

TEST(RecentCorrelationsOf, IdsThatAreSkippedAreNotThoseOfTheSpanBefore) {
  RecentCorrelations recent;
  recent.insert(10);
  recent.insert(11);
  recent.insert(5 + RecentCorrelations::kSpan);
  EXPECT_TRUE(recent.contains(10));
  recent.insert(12 + RecentCorrelations::kSpan);
  EXPECT_FALSE(recent.contains(10 + RecentCorrelations::kSpan));
  EXPECT_FALSE(recent.contains(11 + RecentCorrelations::kSpan));
}

TEST(RecentCorrelationsOf, IdsWrap) {
  RecentCorrelations recent;
  recent.insert(0xFFFFFFF0);
  recent.insert(5);
  EXPECT_TRUE(recent.contains(0xFFFFFFF0));
  EXPECT_TRUE(recent.contains(5));
  EXPECT_FALSE(recent.contains(4));
}

TEST(PendingCopiesOf, ANewerIdReplacesAnOlder) {
  EXPECT_EQ(PendingCopies::kSlots, 32'768u);
  PendingCopies copies;
  EXPECT_FALSE(copies.take(0));
  EXPECT_FALSE(copies.take(7));
  CopyCall call;
  copies.insert(call);  // without an id
  EXPECT_FALSE(copies.take(0));
  call.correlation = 7;
  call.layer = 3;
  copies.insert(call);
  EXPECT_FALSE(copies.take(0));
  EXPECT_FALSE(copies.take(7 + 32'768));
  ASSERT_TRUE(copies.take(7));
  EXPECT_FALSE(copies.take(7));
  copies.insert(call);
  call.correlation = 7 + 32'768;
  copies.insert(call);
  EXPECT_FALSE(copies.take(7));
  EXPECT_EQ(copies.take(7 + 32'768)->layer, 3u);
}

}  // namespace
}  // namespace gable::tests

// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/launch_sequence.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "collector/process/hash.h"

namespace gable {
namespace {

const char kThreads[8] = {};  // any pointer tells a thread

std::uint64_t key(std::uint64_t number) { return mix64(number + 1, 0x9E3779B97F4A7C15ull); }

TEST(LaunchSequence, WhatOtherThreadsLaunchDisturbsNothing) {
  LaunchSequence sequence;
  std::uint64_t others = 0;
  int borders = 0;
  for (int step = 0; step < 10; ++step) {
    for (std::uint64_t i = 0; i < 20; ++i) {
      for (auto n = others % 3; n > 0; --n)
        EXPECT_EQ(sequence.add(kThreads + 1, key(1000 + others)), PeriodMark::none);
      ++others;
      const auto mark = sequence.add(kThreads, key(i));
      borders += mark == PeriodMark::found || mark == PeriodMark::begins ? 1 : 0;
    }
  }
  EXPECT_EQ(sequence.length(), 20);
  EXPECT_EQ(borders, 7);
}

TEST(LaunchSequence, AThreadThatOnlySetsUpGivesWay) {
  LaunchSequence sequence;
  for (std::uint64_t i = 0; i < 30; ++i) (void)sequence.add(kThreads, key(1000 + i));
  for (int step = 0; step < 30; ++step)
    for (std::uint64_t i = 0; i < 10; ++i) (void)sequence.add(kThreads + 1, key(i));
  EXPECT_EQ(sequence.length(), 10);
}

TEST(LaunchSequence, AThreadThatEndedGivesWayAndItsPeriodIsGone) {
  LaunchSequence sequence;
  for (int step = 0; step < 10; ++step)
    for (std::uint64_t i = 0; i < 10; ++i) (void)sequence.add(kThreads, key(i));
  ASSERT_EQ(sequence.length(), 10);
  bool gone = false;
  std::uint64_t launches = 0;
  while (launches < std::uint64_t{2} * LaunchSequence::kPatience) {
    for (std::uint64_t i = 0; i < 16; ++i, ++launches)
      gone = sequence.add(kThreads + 1, key(i)) == PeriodMark::gone || gone;
  }
  EXPECT_TRUE(gone);
  EXPECT_EQ(sequence.length(), 16);
}

TEST(LaunchSequence, ThreadsThatRaceAreSafe) {
  LaunchSequence sequence;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&sequence, t] {
      for (int step = 0; step < 2000; ++step)
        for (std::uint64_t i = 0; i < 10; ++i) (void)sequence.add(kThreads + t, key(i));
    });
  }
  for (int i = 0; i < 100; ++i) sequence.skip();
  for (auto& thread : threads) thread.join();
  for (int step = 0; step < 4000; ++step)
    for (std::uint64_t i = 0; i < 10; ++i) (void)sequence.add(kThreads + 5, key(i));
  EXPECT_EQ(sequence.length(), 10);
}

}  // namespace
}  // namespace gable

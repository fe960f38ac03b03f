// SPDX-License-Identifier: Apache-2.0
// One thread at a time changes what CUPTI does; who waits for it goes on after a while.
#include "collector/windows/change_turn.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace gable {
namespace {

TEST(ChangeTurn, NeverTwoThreadsHaveItAtOnce) {
  ChangeTurns turns([] {});
  std::atomic<int> inside{0}, most{0}, had{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const ChangeTurn turn(turns);
        ASSERT_TRUE(turn.held());
        most = std::max(most.load(), ++inside);
        ++had;
        --inside;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(had, 2000);
}

TEST(ChangeTurn, WhatIsLaunchedMeanwhileIsOurs) {
  ChangeTurns turns([] {});
  {
    const ChangeTurn turn(turns);
    EXPECT_TRUE(this_thread().busy);
  }
  EXPECT_FALSE(this_thread().busy);
}

TEST(ChangeTurn, AThreadOfOursDoesNotWait) {
  int gave_up = 0;
  ChangeTurns turns([&] { ++gave_up; });
  const ChangeTurn turn(turns);
  std::thread([&] {
    const ChangeTurn other(turns, std::chrono::seconds(0));
    EXPECT_FALSE(other.held());
    EXPECT_FALSE(this_thread().busy);
  }).join();
  EXPECT_EQ(gave_up, 0);
}

TEST(ChangeTurn, AThreadOfTheProgramsThatWaitsTooLongIsCountedAndItsTimeToo) {
  int gave_up = 0;
  ChangeTurns turns([&] { ++gave_up; });
  const ChangeTurn turn(turns);
  std::thread([&] {
    const ChangeTurn other(turns, std::chrono::seconds(1));
    EXPECT_FALSE(other.held());
  }).join();
  EXPECT_EQ(gave_up, 1);
  EXPECT_GE(turns.spent_ns(), 1'000'000'000u);
  turns.forget_spent();
  EXPECT_EQ(turns.spent_ns(), 0u);
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What is known of a counter window that ended.
#include <gtest/gtest.h>

#include <string>

#include "collector/layers/launch_hash.h"
#include "tests/unit/collector/windows/queue_alone.h"

namespace gable {
namespace {

class CountedWindow : public testing::Test {
 protected:
  QueueAlone all{"--phases hw --wait 0 --warmup 0 --active 9"};
  EndedWindow window(std::uint64_t begins, std::uint64_t ends, const std::string& spoilt = {}) {
    all.begin(begins);
    all.follow();
    all.launch(1);
    all.launch(2);
    all.end(ends, spoilt);
    return all.read();
  }
};

TEST_F(CountedWindow, HasTheStepsNumberTimesAndLaunches) {
  all.start_over(Border::point);
  (void)window(1000, 2000);
  this_thread().overhead_ns.store(70);
  const auto ended = window(3000, 5000);
  EXPECT_EQ(ended.end.window, 2u);
  EXPECT_EQ(ended.end.step, 2u);
  EXPECT_EQ(ended.end.start_ns, 3000u);
  EXPECT_EQ(ended.end.end_ns, 5000u);
  EXPECT_EQ(ended.end.overhead_ns, 70u);
  EXPECT_EQ(ended.end.launches, 2u);
  LaunchKey first, second;
  first.function = 1;
  second.function = 2;
  EXPECT_EQ(ended.end.sequence_hash, hash_key(first) + hash_key(second));
  EXPECT_TRUE(ended.end.keep);
  EXPECT_FALSE(ended.end.apart);
  EXPECT_FALSE(ended.end.reach);
  EXPECT_EQ(ended.facts.launches, 2u);
  EXPECT_TRUE(ended.facts.steps);
  EXPECT_EQ(ended.facts.flaws, 0u);
  EXPECT_EQ(ended.queue, 1u);
  EXPECT_EQ(all.counts().seen, 2u);
  EXPECT_EQ(all.counts().classes, 1u);
}

TEST_F(CountedWindow, NeverEndsBeforeItBegan) {
  all.start_over(Border::point);
  EXPECT_EQ(window(3000, 2000).end.end_ns, 3000u);
}

TEST_F(CountedWindow, OfLaunchesIsOfNoStep) {
  const auto ended = window(1000, 2000);
  EXPECT_EQ(ended.end.sequence_hash, 0u);
  EXPECT_FALSE(ended.facts.steps);
  EXPECT_EQ(ended.end.launches, 2u);
}

TEST_F(CountedWindow, OfTheProfilersCallsStandsApart) {
  all.start_over(Border::profiler);
  EXPECT_TRUE(window(1000, 2000).end.apart);
}

TEST_F(CountedWindow, IsThrownAwayForAReasonAndOnlyThen) {
  all.start_over(Border::point);
  const auto spoilt = window(1000, 2000, "It was cut.");
  EXPECT_FALSE(spoilt.end.keep);
  EXPECT_EQ(spoilt.end.reason, "It was cut.");
  all.begin(3000);
  all.follow();
  all.launch();
  all.queue.flaw(kCapture);
  all.end(4000);
  const auto flawed = all.read();
  EXPECT_FALSE(flawed.end.keep);
  EXPECT_EQ(flawed.facts.flaws, kCapture);
  EXPECT_TRUE(window(5000, 6000).end.keep) << "a flaw is of its own window";
  EXPECT_EQ(all.counts().hw, 1u);
}

TEST_F(CountedWindow, IsNothingWithoutLaunches) {
  all.start_over(Border::point);
  all.begin(1000);
  all.follow();
  all.end(2000);
  const MutexLock hold(all.queue.mutex());
  EXPECT_EQ(all.queue.counts().seen, 0u);
  EXPECT_TRUE(all.queue.take_ended().empty());
  EXPECT_EQ(all.queue.state().unread(), 0u);
}

TEST_F(CountedWindow, KnowsWhichKernelsWereNewInIt) {
  all.start_over(Border::point);
  EXPECT_EQ(window(1000, 2000).first_new, all.run.rt.functions.size());
  EXPECT_EQ(window(3000, 4000).new_functions, 0u);
}

TEST_F(CountedWindow, CountsItsRangedLaunches) {
  all.begin(1000);
  EXPECT_EQ(all.queue.next_ordinal(), 0u);
  EXPECT_EQ(all.queue.next_ordinal(), 1u);
  EXPECT_EQ(all.queue.ordinals(), 2u);
  all.end(2000);
  all.begin(3000);
  EXPECT_EQ(all.queue.ordinals(), 0u);
}

TEST_F(CountedWindow, WhatChangesTookWithinItIsKnown) {
  all.begin(1000);
  {
    const MutexLock hold(all.queue.mutex());
    all.queue.settled(all.queue.asked() - 1, true, 500, 1030);  // part of it came before
    all.queue.settled(all.queue.asked() - 1, true, 1100, 1105);
    all.queue.settled(all.queue.asked() - 1, false, 1200, 1300);
    all.queue.settled(all.queue.asked(), true, 700, 900);  // all of it
  }
  all.launch();
  all.end(2000);
  const auto ended = all.read();
  EXPECT_TRUE(ended.end.changed);
  EXPECT_EQ(ended.end.change_ns, 35u);
  all.begin(3000);
  all.follow();
  all.launch();
  all.end(4000);
  const auto next = all.read();
  EXPECT_FALSE(next.end.changed);
  EXPECT_EQ(next.end.change_ns, 0u);
}

TEST_F(CountedWindow, IsSpoiltUntilItIsRead) {
  all.start_over(Border::point);
  const MutexLock hold(all.queue.mutex());
  EXPECT_FALSE(all.queue.spoil_ended("x"));
  for (int i = 0; i < 2; ++i) {
    all.queue.begin_window(1000);
    all.launch();
    all.queue.end_window(2000, i == 0 ? "" : "It was cut.");
  }
  const auto phase = all.queue.spoil_ended("Worth nothing.");
  ASSERT_TRUE(phase);
  EXPECT_EQ(phase->kind, PhaseKind::hw);
  const auto ended = all.queue.take_ended();
  ASSERT_EQ(ended.size(), 2u);
  EXPECT_FALSE(ended[0].end.keep);
  EXPECT_EQ(ended[0].end.reason, "Worth nothing.");
  EXPECT_TRUE(ended[0].retract);
  EXPECT_EQ(ended[1].end.reason, "It was cut.");
  EXPECT_FALSE(ended[1].retract);
  EXPECT_TRUE(all.queue.take_ended().empty());
}

TEST_F(CountedWindow, IsDroppedWithoutAReason) {
  all.start_over(Border::point);
  const MutexLock hold(all.queue.mutex());
  all.queue.begin_window(1000);
  all.launch();
  all.queue.end_window(2000, "");
  all.queue.drop_ended();
  const auto ended = all.queue.take_ended();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_FALSE(ended[0].end.keep);
  EXPECT_EQ(ended[0].end.reason, "");
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What the windows of a run collect, for how many launches there is room, and what launches are
// told.
#include "collector/windows/window_queue.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tests/unit/collector/windows/queue_alone.h"

namespace gable {
namespace {

// --- what comes before the first window

struct Before {
  std::string options;
  Border border;
  std::string phases;
};

TEST(WindowQueue, HowManyWindowsPassFirstDependsOnTheBorder) {
  for (const auto& [options, border, phases] :
       std::initializer_list<Before>{{"", Border::launches, "tt"},
                                     {"", Border::period, "utt"},
                                     {"", Border::recurring, "utt"},
                                     {"", Border::point, "wutt"},
                                     {"", Border::profiler, "wutt"},
                                     {"", Border::range, "wutt"},
                                     {" --wait 3", Border::launches, "wwwt"},
                                     {" --wait 3", Border::period, "wwwut"},
                                     {" --wait 3", Border::recurring, "wwut"},
                                     {" --wait 3", Border::point, "wwwut"},
                                     {" --wait 0", Border::recurring, "ut"},
                                     {" --wait 1", Border::recurring, "ut"},
                                     {" --wait 2", Border::recurring, "wut"},
                                     {" --warmup 2", Border::launches, "uut"},
                                     {" --warmup 2", Border::period, "uut"},
                                     {" --wait 0 --warmup 0", Border::point, "t"},
                                     {" --budget 3%", Border::launches, "wu"},
                                     {" --budget 3%", Border::period, "wu"},
                                     {" --budget 3%", Border::recurring, "wu"},
                                     {" --budget 3%", Border::point, "wu"},
                                     {" --budget 3% --wait 0 --warmup 0", Border::period, "t"}}) {
    QueueAlone all("--phases time --active 2" + options);
    all.start_over(border, true);
    EXPECT_EQ(all.steps(static_cast<int>(phases.size())), phases)
        << options << " " << name_of(border, StepPoint::call);
  }
}

TEST(WindowQueue, WarmingUpGoesOnUntilAStepHasRepeated) {
  QueueAlone all("--phases time --active 2");
  all.start_over(Border::recurring, false);
  EXPECT_EQ(all.steps(3), "uut");
}

TEST(WindowQueue, RanksHaveNoBudget) {
  QueueAlone all("--phases time --active 2 --budget 3%");
  EXPECT_TRUE(all.queue.limited());
  all.run.rt.ranks.store(true);
  {
    const MutexLock hold(all.queue.mutex());
    all.queue.start_with_ranks();
  }
  EXPECT_FALSE(all.queue.limited());
  EXPECT_EQ(all.steps(2), "tt");
}

TEST(WindowQueue, AScheduleStandsAboveTheOptions) {
  QueueAlone all("--phases time --wait 5 --warmup 5 --active 7");
  {
    const MutexLock hold(all.queue.mutex());
    all.queue.follow_schedule({2, 1, 1, {}});
  }
  all.start_over(Border::point);
  EXPECT_EQ(all.steps(6), "wwutt-") << "the last one tells where the step before it ended";
}

TEST(WindowQueue, AQueueRepeats) {
  QueueAlone all("--phases time --wait 1 --warmup 0 --active 1 --repeat 2");
  EXPECT_EQ(all.steps(5), "wtt--") << "and waits once";
}

TEST(WindowQueue, CollectsOneOfEachInTheirOrder) {
  QueueAlone all("--wait 0 --warmup 0 --active 1");
  all.start_over(Border::point);
  EXPECT_EQ(all.steps(5), "hftt-");
  const auto counts = all.counts();
  EXPECT_EQ(counts.hw, 1u);
  EXPECT_EQ(counts.flops, 1u);
  EXPECT_EQ(counts.time, 1u);
  EXPECT_EQ(counts.seen, 4u);
}

TEST(WindowQueue, WithoutAPlanTimesAloneAreCollected) {
  QueueAlone all("--wait 0 --warmup 0 --active 1");
  all.plan = false;
  all.start_over(Border::point);
  EXPECT_EQ(all.steps(3), "tt-");
}

TEST(WindowQueue, APlanWithoutFlopsLeavesThemOut) {
  QueueAlone all("--wait 0 --warmup 0 --active 1");
  all.run.plan.passes.pop_back();
  all.start_over(Border::point);
  EXPECT_EQ(all.steps(4), "htt-");
}

TEST(WindowQueue, EveryGroupOfCountersTakesItsOwnWindow) {
  QueueAlone all("--wait 0 --warmup 0 --active 1");
  auto second = all.run.plan.passes.front();
  second.phase = {PhaseKind::hw, 1};
  all.run.plan.passes.insert(all.run.plan.passes.begin(), second);
  all.start_over(Border::point);
  EXPECT_EQ(all.steps(6), "hhftt-");
}

TEST(WindowQueue, WhileCuptiMayReturnWindowsPass) {
  QueueAlone all("--phases time --wait 0 --warmup 0 --active 1");
  all.start_over(Border::point);
  all.may_return = true;
  EXPECT_EQ(all.steps(2), "ww");
  all.may_return = false;
  EXPECT_EQ(all.steps(3), "tt-");
}

// --- how many ranges a window has room for

TEST(WindowQueue, ThereIsRoomForMoreThanAWindowUsuallyHas) {
  QueueAlone all("--phases hw --wait 0 --warmup 0 --active 9 --window 100");
  const auto others = ThreadRegistry::instance().launches_of_others();
  all.step();
  EXPECT_EQ(all.queue.max_ranges(), 100 + 25 + 64 + others);
  {
    const MutexLock hold(all.queue.mutex());
    all.queue.want_more_ranges();
    all.queue.want_more_ranges();
  }
  all.step();
  EXPECT_EQ(all.queue.max_ranges(), 4 * (100 + 25 + 64 + others));
}

TEST(WindowQueue, ThereIsRoomForTheLongestStepOfLate) {
  QueueAlone all("--phases hw --wait 0 --warmup 0 --active 9");
  const auto others = ThreadRegistry::instance().launches_of_others();
  all.start_over(Border::point);
  all.step(80);
  EXPECT_EQ(all.queue.max_ranges(), 64 + others);
  all.step(3);
  EXPECT_EQ(all.queue.max_ranges(), 80 + 20 + 64 + others);
  all.step(200);
  EXPECT_EQ(all.queue.max_ranges(), 70 + 17 + 64 + others) << "an eighth less than the step before";
  all.step(1);
  EXPECT_EQ(all.queue.max_ranges(), 200 + 50 + 64 + others);
}

TEST(WindowQueue, RoomHasAnEnd) {
  QueueAlone all("--phases hw --wait 0 --warmup 0 --active 9 --window 100000");
  all.step();
  EXPECT_EQ(all.queue.max_ranges(), 65536u);
}

TEST(WindowQueue, WhatAFoundStepHasIsExpected) {
  QueueAlone all("--phases hw --wait 0 --warmup 0 --active 9");
  all.start_over(Border::recurring);
  {
    const MutexLock hold(all.queue.mutex());
    all.queue.expect_launches(40);
  }
  const auto others = ThreadRegistry::instance().launches_of_others();
  all.step();
  EXPECT_EQ(all.queue.max_ranges(), 40 + 10 + 64 + others);
}

// --- steps that are described

TEST(WindowQueue, AStepIsDescribedWhereNothingIsCollected) {
  QueueAlone all("--phases hw,time --wait 1 --warmup 1 --active 1");
  EXPECT_FALSE(all.queue.step_to_describe(true)) << "no window is open";
  all.start_over(Border::point);
  all.begin(1000);
  ASSERT_EQ(all.phase(), 'w');
  EXPECT_EQ(all.queue.step_to_describe(false), 1u);
  EXPECT_EQ(all.queue.step_to_describe(true), 1u);
  all.launch();
  all.end(2000);
  EXPECT_FALSE(all.queue.step_to_describe(true));
  all.begin(3000);
  ASSERT_EQ(all.phase(), 'u');
  EXPECT_FALSE(all.queue.step_to_describe(false));
  EXPECT_EQ(all.queue.step_to_describe(true), 2u);
  EXPECT_EQ(all.phase(), 'w') << "it waits, and another one is warmed up";
  all.launch();
  all.end(4000);
  EXPECT_EQ(all.steps(3), "uht");
}

TEST(WindowQueue, AForwardIsDescribedBesideCounters) {
  QueueAlone all("--phases hw --wait 0 --warmup 0 --active 2");
  all.start_over(Border::point);
  all.begin(1000);
  ASSERT_EQ(all.phase(), 'h');
  EXPECT_FALSE(all.queue.step_to_describe(false));
  EXPECT_EQ(all.queue.step_to_describe(true), 1u);
  EXPECT_EQ(all.phase(), 'h');
  all.follow();
  all.launch();
  all.end(2000);
  EXPECT_EQ(all.read().end.start_ns, 0u) << "nothing is told from how long it was";
  all.begin(3000);
  all.follow();
  all.launch();
  all.end(4000);
  EXPECT_EQ(all.read().end.start_ns, 3000u);
}

TEST(WindowQueue, OnlyStepsThatEndAtPointsAreDescribed) {
  for (const auto border : {Border::range, Border::profiler, Border::period, Border::recurring}) {
    QueueAlone all("--phases time --wait 3");
    all.start_over(border);
    all.begin(1000);
    ASSERT_EQ(all.phase(), 'w');
    EXPECT_FALSE(all.queue.step_to_describe(true));
  }
}

TEST(WindowQueue, RanksAndBudgetsKeepTheirSteps) {
  QueueAlone ranks("--phases time --wait 0 --warmup 1 --active 2");
  ranks.run.rt.ranks.store(true);
  ranks.start_over(Border::point);
  ranks.begin(1000);
  ASSERT_EQ(ranks.phase(), 'u');
  EXPECT_FALSE(ranks.queue.step_to_describe(true));
  QueueAlone budget("--phases time --wait 0 --warmup 1 --active 2 --budget 3%");
  budget.start_over(Border::point);
  budget.begin(1000);
  ASSERT_EQ(budget.phase(), 'u');
  EXPECT_FALSE(budget.queue.step_to_describe(true));
}

// --- what launches are told

TEST(WindowQueue, LaunchesAreToldOfTheWindowAsFarAsCuptiFollows) {
  QueueAlone all("--phases hw,time --wait 1 --warmup 0 --active 1");
  const auto& hot = all.run.rt.hot;
  all.start_over(Border::point);
  all.run.rt.hot.pending.store(false);
  all.begin(1000);
  ASSERT_EQ(all.phase(), 'w');
  EXPECT_EQ(hot.step.load(), 1u);
  EXPECT_EQ(hot.window.load(), kNoWindow);
  EXPECT_FALSE(hot.counters.load());
  EXPECT_FALSE(hot.pending.load()) << "nothing is to be done";
  all.launch();
  all.end(2000);
  all.begin(3000);
  ASSERT_EQ(all.phase(), 'h');
  EXPECT_EQ(hot.step.load(), 2u);
  EXPECT_EQ(hot.window.load(), 2u) << "the launch makes CUPTI follow";
  EXPECT_TRUE(hot.counters.load());
  EXPECT_TRUE(hot.pending.load());
  EXPECT_EQ(hot.span_window.load(), kNoWindow);
  all.follow();
  EXPECT_FALSE(hot.pending.load());
  all.launch();
  all.end(4000);
  EXPECT_TRUE(hot.pending.load()) << "it is to be read";
  EXPECT_FALSE(hot.counters.load());
  EXPECT_EQ(hot.window.load(), kNoWindow);
  (void)all.read();
  all.begin(5000);
  ASSERT_EQ(all.phase(), 't');
  EXPECT_EQ(hot.window.load(), kNoWindow);
  EXPECT_EQ(hot.span_window.load(), 3u);
  EXPECT_FALSE(hot.counters.load());
  all.follow();
  EXPECT_EQ(hot.window.load(), 3u);
  all.launch();
  all.end(6000);
  EXPECT_EQ(hot.span_window.load(), kNoWindow);
}

TEST(WindowQueue, AChangeThatCameMeanwhileTakesAnotherTurn) {
  QueueAlone all("--phases time --wait 0 --warmup 0 --active 2");
  all.begin(1000);
  const MutexLock hold(all.queue.mutex());
  const auto asked = all.queue.asked();
  all.queue.ask_for_change();
  all.queue.settled(asked, true, 0, 0);
  EXPECT_TRUE(all.run.rt.hot.pending.load());
  EXPECT_EQ(all.run.rt.hot.window.load(), kNoWindow);
  all.queue.settled(asked + 1, true, 0, 0);
  EXPECT_FALSE(all.run.rt.hot.pending.load());
  EXPECT_EQ(all.run.rt.hot.window.load(), 1u);
}

// --- queues

TEST(WindowQueue, AFurtherOneWaitsForTheNextStep) {
  QueueAlone all("--phases time --wait 0 --warmup 0 --active 1");
  all.start_over(Border::point);
  EXPECT_EQ(all.steps(3), "tt-");
  {
    const MutexLock hold(all.queue.mutex());
    EXPECT_FALSE(all.queue.reopen({}, true)) << "CUPTI was not let go yet";
    EXPECT_TRUE(all.queue.state().let_go());
    EXPECT_TRUE(all.queue.reopen({}, true));
  }
  EXPECT_EQ(all.counts().time, 0u);
  EXPECT_EQ(all.counts().seen, 0u);
  EXPECT_EQ(all.steps(4), "wtt-");
  {
    const MutexLock hold(all.queue.mutex());
    EXPECT_TRUE(all.queue.state().let_go());
    EXPECT_TRUE(all.queue.reopen({0, 0, 1, 1}, true));
    EXPECT_EQ(all.queue.number(), 3u);
  }
  EXPECT_EQ(all.steps(3), "tt-") << "where it is said, it begins at once";
}

TEST(WindowQueue, WithoutAWindowLeftItIsCompleteOrRests) {
  for (const bool looks_on : {false, true}) {
    QueueAlone all("--phases time --wait 0 --warmup 0 --active 1");
    all.looks_on = looks_on;
    EXPECT_EQ(all.steps(1), "t");
    all.begin(9'000'000);
    EXPECT_EQ(all.phase(), '-');
    EXPECT_TRUE(all.run.rt.hot.pending.load()) << "CUPTI is left alone";
    const MutexLock hold(all.queue.mutex());
    EXPECT_EQ(all.queue.state().ended(), !looks_on);
    all.queue.settled(all.queue.asked(), false, 0, 0);
    all.queue.begin_window(9'100'000);
    EXPECT_FALSE(all.run.rt.hot.pending.load()) << "once";
  }
}

TEST(WindowQueue, StoppedIsStopped) {
  QueueAlone all("--phases time --wait 0 --warmup 0 --active 9");
  EXPECT_EQ(all.steps(2), "tt");
  {
    const MutexLock hold(all.queue.mutex());
    all.queue.settled(all.queue.asked(), false, 0, 0);
    all.queue.stop();
    EXPECT_TRUE(all.queue.state().ended());
  }
  EXPECT_TRUE(all.run.rt.hot.pending.load());
  EXPECT_EQ(all.steps(1), "-");
  EXPECT_EQ(all.counts().time, 2u);
}

TEST(WindowQueue, KnowsHowManyStepsARunNeeds) {
  QueueAlone all("--wait 1 --warmup 1 --active 1");
  all.start_over(Border::point);
  (void)all.steps(3);
  const auto needed = all.counts().needed;
  ASSERT_TRUE(needed);
  QueueAlone more("--wait 3 --warmup 1 --active 1");
  more.start_over(Border::point);
  (void)more.steps(5);
  EXPECT_EQ(more.counts().needed, *needed + 2);
  more.plan = false;
  EXPECT_FALSE(more.counts().needed) << "how many passes there are is not known";
  QueueAlone times("--phases time --wait 1 --warmup 1 --active 1");
  times.plan = false;
  times.start_over(Border::point);
  (void)times.steps(3);
  EXPECT_EQ(times.counts().needed, *needed - 2) << "without a pass each of hw and flops";
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The queue decides what a whole run collects; a phase that is never reached is a column of
// unknowns in the report.
#include "collector/queue/phase_queue.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace gable {
namespace {

QueueOptions options(std::uint32_t groups) {
  QueueOptions o;
  o.hw_groups = groups;
  return o;
}

// Plays steps with the given hashes (the last one goes on for ever) and returns the phases in
// order, joined by spaces; "reach" is a step into which times only reach.
std::string play(PhaseQueue& queue, std::vector<std::uint64_t> hashes, int most = 100) {
  std::string out;
  for (int i = 0; i < most && !queue.complete(); ++i) {
    const auto phase = queue.next();
    out += (out.empty() ? "" : " ") + (queue.reaching() ? "reach" : to_string(phase));
    queue.ended(
        phase, hashes[std::min<std::size_t>(static_cast<std::size_t>(i), hashes.size() - 1)], true);
  }
  return out;
}

TEST(PhaseQueue, GoesThroughEveryPhaseOnce) {
  auto o = options(2);
  o.active = 1;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {7}), "wait warmup hw:1 hw:2 flops time reach");
}

TEST(PhaseQueue, EachPhaseHasActiveWindows) {
  auto o = options(1);
  o.active = 3;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {7}), "wait warmup hw:1 flops flops flops time time time reach hw:1 hw:1");
}

// What a program has that ends after wait + warm-up + K + 3 steps.
TEST(PhaseQueue, EveryPhaseComesBeforeAnyComesOften) {
  auto o = options(4);
  o.active = 2;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {7}, 9), "wait warmup hw:1 hw:2 hw:3 hw:4 flops flops time");
  EXPECT_EQ(play(queue, {7}), "time reach hw:1 hw:2 hw:3 hw:4");
}

// What a window had is read when the next one was announced. That may become another counter
// window then; for times it is too late, and the step passes.
TEST(PhaseQueue, TheFirstTimesDoNotWaitForTheLastFlopsToBeRead) {
  PhaseQueue queue(options(4));
  Phase before;
  std::string out;
  for (int i = 0; i < 9; ++i) {
    auto phase = queue.next();
    PhaseQueue::Progress wanted;
    wanted.more = out.find("flops flops") == std::string::npos;
    if (measures(before.kind)) queue.progress(before, 7, wanted);
    if (const auto due = queue.next(); due != phase)
      phase = due.kind == PhaseKind::time ? Phase{PhaseKind::wait, 0} : due;
    out += (out.empty() ? "" : " ") + to_string(phase);
    queue.ended(phase, 7, true);
    before = phase;
  }
  EXPECT_EQ(out, "wait warmup hw:1 hw:2 hw:3 hw:4 flops flops time");
  EXPECT_EQ(queue.least_steps(), 9u);
}

// A third window of FLOPs is taken where the second one says so when it is read.
TEST(PhaseQueue, FlopsThatLackSamplesAreTakenOnceMore) {
  auto o = options(1);
  o.wait = o.warmup = 0;
  PhaseQueue queue(o);
  queue.ended(queue.next(), 7, true);
  for (int i = 0; i < 2; ++i) queue.ended({PhaseKind::flops, 0}, 7, true);
  EXPECT_EQ(to_string(queue.next()), "time");
  PhaseQueue::Progress wanted;
  wanted.more = true;
  queue.progress({PhaseKind::flops, 0}, 7, wanted);
  EXPECT_EQ(to_string(queue.next()), "flops");
}

TEST(PhaseQueue, KnowsHowManyStepsItTakesAtLeast) {
  auto o = options(9);
  EXPECT_EQ(PhaseQueue(o).least_steps(), 14u);
  o.active = 1;
  EXPECT_EQ(PhaseQueue(o).least_steps(), 13u);
  o.hw = false;
  o.wait = 5;
  EXPECT_EQ(PhaseQueue(o).least_steps(), 8u);
  o.flops = o.time = false;
  EXPECT_EQ(PhaseQueue(o).least_steps(), 6u);
}

// Two steps that are like no other, as where cuDNN tries algorithms first: the warm-up lasts until
// the third and the fourth were alike.
TEST(PhaseQueue, StepsThatDifferAtFirstPutEverythingOff) {
  auto o = options(4);
  o.active = 2;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {1, 2, 7}, 11),
            "wait warmup warmup warmup hw:1 hw:2 hw:3 hw:4 flops flops time");
}

TEST(PhaseQueue, WindowsOfLaunchesAreNotTakenInTurn) {
  auto o = options(2);
  o.active = 3;
  o.steps = o.until_repeat = false;
  o.wait = o.warmup = 0;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {0}), "hw:1 hw:2 flops flops flops time hw:1 hw:1 hw:2 hw:2 time time");
}

// Until hardware has said that instrumented code counts after kernel records were on.
TEST(PhaseQueue, NoFlopsComeAfterTheFirstTimes) {
  auto o = options(1);
  o.wait = o.warmup = 0;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {1}, 3), "hw:1 flops time");
  // Another kind of step, as often from now on: it never had FLOPs.
  std::string later;
  for (int i = 0; i < 40 && !queue.complete(); ++i) {
    const auto phase = queue.next();
    later += to_string(phase) + " ";
    queue.ended(phase, 2, true);
  }
  EXPECT_TRUE(queue.complete());
  EXPECT_EQ(later.find("flops"), std::string::npos) << later;
  EXPECT_NE(later.find("hw:1"), std::string::npos) << later;
}

TEST(PhaseQueue, TimesThatWereThrownAwayEndFlopsToo) {
  auto o = options(1);
  o.wait = o.warmup = 0;
  o.active = 1;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {1}, 2), "hw:1 flops");
  queue.ended(queue.next(), 1, false);
  queue.retract({PhaseKind::flops, 0}, 1);
  EXPECT_EQ(play(queue, {1}), "time reach");
}

TEST(PhaseQueue, RepeatsTheWholeQueue) {
  auto o = options(1);
  o.active = 1;
  o.repeat = 2;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {7}), "wait warmup hw:1 flops time reach hw:1 flops time reach");
}

TEST(PhaseQueue, WarmsUpUntilTheSequenceRepeats) {
  auto o = options(0);
  o.active = 1;
  o.flops = false;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {1, 2, 3, 3}), "wait warmup warmup warmup time reach");
}

TEST(PhaseQueue, DoesNotWarmUpForEver) {
  PhaseQueue queue(options(1));
  std::uint64_t hash = 100;
  int warm = 0;
  while (queue.next().kind == PhaseKind::wait || queue.next().kind == PhaseKind::warmup) {
    warm += queue.next().kind == PhaseKind::warmup ? 1 : 0;
    queue.ended(queue.next(), ++hash, true);
  }
  EXPECT_EQ(warm, static_cast<int>(PhaseQueue::kMaxWarmup));
}

TEST(PhaseQueue, AThrownAwayWindowIsTakenAgain) {
  auto o = options(1);
  o.active = 1;
  o.wait = o.warmup = 0;
  PhaseQueue queue(o);
  queue.ended(queue.next(), 7, false);
  EXPECT_EQ(to_string(queue.next()), "hw:1");
  queue.ended(queue.next(), 7, true);
  EXPECT_EQ(to_string(queue.next()), "flops");
}

// At once, so that a program that ends early lacks one window's worth, whichever was spoilt.
TEST(PhaseQueue, WhatIsSpoiltIsTakenAgainBeforeTheQueueGoesOn) {
  auto o = options(3);
  o.active = 2;
  o.wait = o.warmup = 0;
  const std::string whole = "hw:1 hw:2 hw:3 flops flops time time hw:1 hw:2 hw:3";
  for (int spoilt = 0; spoilt < 10; ++spoilt) {
    PhaseQueue queue(o);
    std::string kept;
    for (int i = 0; !queue.complete(); ++i) {
      const auto phase = queue.next();
      if (i != spoilt && !queue.reaching()) kept += (kept.empty() ? "" : " ") + to_string(phase);
      queue.ended(phase, 7, i != spoilt);
    }
    EXPECT_EQ(kept, whole) << spoilt;
  }
}

TEST(PhaseQueue, AWindowThatProvesUselessIsTakenAgain) {
  auto o = options(1);
  o.active = 1;
  o.wait = o.warmup = 0;
  PhaseQueue queue(o);
  const auto hw = queue.next();
  queue.ended(hw, 7, true);
  EXPECT_EQ(to_string(queue.next()), "flops");
  queue.retract(hw, 7);
  EXPECT_EQ(to_string(queue.next()), "hw:1");
}

TEST(PhaseQueue, GivesUpAPhaseThatNeverSucceeds) {
  auto o = options(1);
  o.active = 1;
  o.wait = o.warmup = 0;
  PhaseQueue queue(o);
  for (std::uint32_t i = 0; i < PhaseQueue::kMaxThrownAway; ++i) {
    EXPECT_EQ(to_string(queue.next()), "hw:1");
    queue.ended(queue.next(), 7, false);
  }
  EXPECT_EQ(to_string(queue.next()), "flops");
}

// The length of a step on the GPU shows at the next one's first kernel. Where windows are not
// counted, several of them in a row do.
TEST(PhaseQueue, TimesReachIntoTheNextStepUnlessMoreTimesFollow) {
  PhaseQueue queue(options(1));
  EXPECT_EQ(play(queue, {7}), "wait warmup hw:1 flops time time time");
  auto o = options(1);
  o.active = 1;
  o.wait = o.warmup = 0;
  PhaseQueue counted(o);
  EXPECT_EQ(play(counted, {7}, 2), "hw:1 flops");
  counted.ended(counted.next(), 7, true);
  ASSERT_TRUE(counted.reaching());
  EXPECT_EQ(to_string(counted.next()), "time");
  EXPECT_FALSE(counted.complete());
  counted.ended({PhaseKind::wait, 0}, 7, true);  // the step could not be taken for it
  EXPECT_TRUE(counted.complete());

  PhaseQueue spoilt(o);
  EXPECT_EQ(play(spoilt, {7}, 2), "hw:1 flops");
  spoilt.ended(spoilt.next(), 7, false);
  EXPECT_FALSE(spoilt.reaching());  // the step is taken again
  EXPECT_EQ(play(spoilt, {7}), "time reach");
}

// With several ranks the numbers of steps alone decide, also where a step was spoilt on one rank.
TEST(PhaseQueue, ByNumberTimesReachWhateverCameOfThem) {
  auto o = options(1);
  o.active = 1;
  o.by_number = true;
  for (const bool kept : {true, false}) {
    PhaseQueue queue(o);
    std::string out;
    for (int i = 0; i < 6 && !queue.complete(); ++i) {
      out += queue.reaching() ? "reach " : to_string(queue.next()) + " ";
      queue.ended(queue.next(), 7, kept);
    }
    EXPECT_EQ(out, "wait warmup hw:1 flops time reach ") << kept;
  }
}

TEST(PhaseQueue, GoesOnWithoutCounters) {
  PhaseQueue queue(options(4));
  queue.give_up(PhaseKind::hw);
  queue.give_up(PhaseKind::flops);
  EXPECT_EQ(play(queue, {7}), "wait warmup time time time");
}

TEST(PhaseQueue, EveryFrequentClassGetsTheQueueAndItsFlopsBeforeAnyTimes) {
  auto o = options(1);
  o.active = 1;
  PhaseQueue queue(o);
  std::map<std::uint64_t, std::map<std::string, int>> got;
  bool timing = false;
  for (std::uint64_t i = 0; i < 100 && !queue.complete(); ++i) {  // A B A B …
    const auto phase = queue.next();
    if (phase.kind == PhaseKind::time) timing = true;
    EXPECT_FALSE(timing && phase.kind == PhaseKind::flops);
    ++got[1 + i % 2][to_string(phase)];
    queue.ended(phase, 1 + i % 2, true);
  }
  EXPECT_TRUE(queue.complete());
  for (auto& [hash, phases] : got) {
    EXPECT_GE(phases["hw:1"], 1) << hash;
    EXPECT_GE(phases["flops"], 1) << hash;
    EXPECT_GE(phases["time"], 1) << hash;
  }
}

TEST(PhaseQueue, ARareStepDoesNotKeepTheQueueOpen) {
  auto o = options(1);
  o.active = 2;
  PhaseQueue queue(o);
  int steps = 0;
  for (; steps < 100 && !queue.complete(); ++steps)
    queue.ended(queue.next(), steps == 4 ? 99 : 7, true);
  EXPECT_TRUE(queue.complete());
  EXPECT_LT(steps, 20);
}

TEST(PhaseQueue, ProgramsWhoseStepsAllDifferComeToAnEnd) {
  auto o = options(2);
  o.active = 1;
  PhaseQueue queue(o);
  std::uint64_t hash = 0;
  int steps = 0;
  for (; steps < 500 && !queue.complete(); ++steps) queue.ended(queue.next(), ++hash, true);
  EXPECT_TRUE(queue.complete()) << "callbacks would stay on for the whole run";
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The queue decides what a whole run collects; a phase that is never reached is a column of
// unknowns in the report.
#include "collector/phase_queue.h"

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
// order, joined by spaces.
std::string play(PhaseQueue& queue, std::vector<std::uint64_t> hashes, int most = 100) {
  std::string out;
  for (int i = 0; i < most && !queue.complete(); ++i) {
    const auto phase = queue.next();
    out += (out.empty() ? "" : " ") + to_string(phase);
    queue.ended(
        phase, hashes[std::min<std::size_t>(static_cast<std::size_t>(i), hashes.size() - 1)], true);
  }
  return out;
}

TEST(PhaseQueue, GoesThroughEveryPhaseOnce) {
  auto o = options(2);
  o.active = 1;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {7}), "wait warmup hw:1 hw:2 flops time");
}

TEST(PhaseQueue, EachPhaseHasActiveWindows) {
  auto o = options(1);
  o.active = 3;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {7}), "wait warmup hw:1 hw:1 hw:1 flops flops flops time time time");
}

TEST(PhaseQueue, RepeatsTheWholeQueue) {
  auto o = options(1);
  o.active = 1;
  o.repeat = 2;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {7}), "wait warmup hw:1 flops time hw:1 flops time");
}

TEST(PhaseQueue, WarmsUpUntilTheSequenceRepeats) {
  auto o = options(0);
  o.active = 1;
  o.flops = false;
  PhaseQueue queue(o);
  EXPECT_EQ(play(queue, {1, 2, 3, 3}), "wait warmup warmup warmup time");
  EXPECT_TRUE(queue.sequence_repeated());
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
  EXPECT_FALSE(queue.sequence_repeated());
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

TEST(PhaseQueue, GoesOnWithoutCounters) {
  PhaseQueue queue(options(4));
  queue.give_up(PhaseKind::hw);
  queue.give_up(PhaseKind::flops);
  EXPECT_EQ(play(queue, {7}), "wait warmup time time time");
  EXPECT_FALSE(queue.counters_left());
}

TEST(PhaseQueue, EveryFrequentClassGetsTheQueueAndTimeComesLast) {
  auto o = options(1);
  o.active = 1;
  PhaseQueue queue(o);
  std::map<std::uint64_t, std::map<std::string, int>> got;
  bool timing = false;
  for (std::uint64_t i = 0; i < 100 && !queue.complete(); ++i) {  // A B A B …
    const auto phase = queue.next();
    if (phase.kind == PhaseKind::time) timing = true;
    EXPECT_FALSE(timing && (phase.kind == PhaseKind::hw || phase.kind == PhaseKind::flops))
        << "switched back";
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

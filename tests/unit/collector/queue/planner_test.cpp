// SPDX-License-Identifier: Apache-2.0
// The planner ends a phase when its kernels have what they want, and believes no window it should
// not.
#include "collector/queue/planner.h"

#include <gtest/gtest.h>

#include <string>

namespace gable {
namespace {

QueueOptions planner_options(std::uint32_t groups) {
  QueueOptions o;
  o.hw_groups = groups;
  o.wait = o.warmup = 0;
  return o;
}

// Plays windows until the queue is complete; `needs(phase, n)` is what the keys want after the n-th
// window of the phase. Returns the phases with their counts: "hw:1 x3, flops x2".
template <typename Needs>
std::string play(Planner& planner, Needs needs, bool steps = true, int most = 1000) {
  std::string out;
  std::map<std::string, int> had;
  std::string last;
  int in_row = 0;
  const auto note = [&] {
    if (in_row > 0) out += (out.empty() ? "" : ", ") + last + " x" + std::to_string(in_row);
  };
  for (int i = 0; i < most && planner.next().kind != PhaseKind::off; ++i) {
    WindowFacts facts;
    facts.phase = planner.next();
    facts.hash = 7;
    facts.launches = 10;
    facts.steps = steps;
    const auto name = to_string(facts.phase);
    if (name != last) {
      note();
      in_row = 0;
      last = name;
    }
    ++in_row;
    EXPECT_EQ(planner.ended(facts, {}).reason, "");
    if (facts.phase.kind != PhaseKind::time) planner.counters_read(facts, {});
    planner.progress(facts, needs(facts.phase, ++had[name]));
  }
  note();
  return out;
}

KeyNeeds lacking() {
  KeyNeeds needs;
  needs.samples = 1;
  return needs;
}
KeyNeeds spreading() {
  KeyNeeds needs;
  needs.spread = 1;
  return needs;
}

TEST(Planner, OneWindowIsEnoughWhereKeysAreLaunchedOften) {
  Planner planner(planner_options(2));
  EXPECT_EQ(play(planner, [](Phase, int) { return KeyNeeds{}; }),
            "hw:1 x1, hw:2 x1, flops x1, time x3");
}

TEST(Planner, APhaseGoesOnUntilItsKeysHaveSamples) {
  Planner planner(planner_options(1));
  EXPECT_EQ(play(planner,
                 [](Phase p, int n) {
                   return n < (p.kind == PhaseKind::hw ? 3 : 2) ? lacking() : KeyNeeds{};
                 }),
            "hw:1 x1, flops x2, time x3, hw:1 x2");
}

// Each counter window counts one of the contexts.
TEST(Planner, ContextsThatTakeTurnsHaveAWindowEach) {
  const auto enough = [](Phase, int) { return KeyNeeds{}; };
  Planner planner(planner_options(2));
  planner.share(2);
  EXPECT_EQ(play(planner, enough), "hw:1 x2, hw:2 x2, flops x2, time x3");
  auto exactly = planner_options(2);
  exactly.active = 1;
  Planner once(exactly);
  once.share(3);
  EXPECT_EQ(play(once, enough), "hw:1 x3, hw:2 x3, flops x3, time x2");
  exactly.by_number = true;
  Planner ranks(exactly);
  ranks.share(3);
  EXPECT_EQ(play(ranks, enough), "hw:1 x1, hw:2 x1, flops x1, time x2") << "other ranks may not";
}

TEST(Planner, KeysThatNeverGetTheirSamplesAreNotWaitedForLongerThanTenWindows) {
  Planner planner(planner_options(1));
  std::map<std::string, int> windows;
  EXPECT_EQ(play(planner,
                 [&](Phase phase, int n) {
                   windows[to_string(phase)] = n;
                   return lacking();
                 })
                .substr(0, 37),
            "hw:1 x1, flops x10, time x3, hw:1 x9,");
  EXPECT_EQ(windows, (std::map<std::string, int>{{"hw:1", 10}, {"flops", 10}, {"time", 10}}));
}

TEST(Planner, KeysThatAreWorthLessThanAHundredthOfTheTimeAreNotWaitedFor) {
  Planner planner(planner_options(1));
  KeyNeeds few;
  few.samples = few.spread = 0.009;
  EXPECT_EQ(play(planner, [&few](Phase, int) { return few; }), "hw:1 x1, flops x1, time x3");
}

TEST(Planner, SpreadIsAnsweredAfterEveryKeyHasItsSamples) {
  Planner planner(planner_options(2));
  EXPECT_EQ(play(planner,
                 [](Phase p, int n) {
                   if (n < 2)
                     return p.kind == PhaseKind::hw && p.group == 0 ? spreading() : lacking();
                   return p.kind == PhaseKind::hw && p.group == 0 && n < 5 ? spreading()
                                                                           : KeyNeeds{};
                 }),
            "hw:1 x1, hw:2 x1, flops x2, time x3, hw:2 x1, hw:1 x4");
}

TEST(Planner, FlopsThatSpreadAreCountedOnBeforeTheTimes) {
  Planner planner(planner_options(1));
  EXPECT_EQ(play(planner,
                 [](Phase p, int n) {
                   return p.kind == PhaseKind::flops && n < 5 ? spreading() : KeyNeeds{};
                 }),
            "hw:1 x1, flops x5, time x3");
}

// A step of kernels that are launched once, on a chip of four hardware passes.
TEST(Planner, ThingsAreCompleteAfterKAndThreeSteps) {
  Planner planner(planner_options(4));
  EXPECT_EQ(play(planner,
                 [](Phase p, int n) {
                   return n < (p.kind == PhaseKind::flops ? 2 : 3) ? lacking() : KeyNeeds{};
                 }),
            "hw:1 x1, hw:2 x1, hw:3 x1, hw:4 x1, flops x2, time x3, hw:1 x2, hw:2 x2, hw:3 x2, "
            "hw:4 x2");
}

TEST(Planner, WhereWindowsAreLaunchesAPhaseGoesOnWhileNewKeysCome) {
  auto o = planner_options(1);
  o.steps = false;
  Planner planner(o);
  KeyNeeds fresh = lacking();
  fresh.fresh = 1;
  EXPECT_EQ(play(
                planner, [&](Phase, int n) { return n < 40 ? fresh : KeyNeeds{}; }, false, 90),
            "hw:1 x1, flops x40, time x1, hw:1 x39, time x9");
}

// Two windows of times, and the step into which the second one reaches.
TEST(Planner, ActiveIsExact) {
  auto o = planner_options(1);
  o.active = 2;
  Planner planner(o);
  EXPECT_EQ(play(planner, [](Phase, int) { return lacking(); }),
            "hw:1 x1, flops x2, time x3, hw:1 x1");
}

TEST(Planner, APhaseThatNeverVerifiesIsGivenUp) {
  Planner planner(planner_options(2));
  WindowFacts facts{1, {PhaseKind::hw, 0}, 7, 10, 0, true};
  EXPECT_EQ(planner.ended(facts, {}).reason, "");
  planner.counters_read(facts, {});
  facts.phase.group = 1;
  CountersOutcome bad;
  bad.keep = false;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(to_string(planner.next()), "hw:2");
    EXPECT_EQ(planner.ended(facts, {}).reason, "");
    planner.counters_read(facts, bad);
  }
  EXPECT_EQ(to_string(planner.next()), "flops");
}

TEST(Planner, AKeptWindowForgivesThoseThrownAwayBefore) {
  auto o = planner_options(1);
  o.active = 10;
  o.flops = o.time = false;
  Planner planner(o);
  WindowFacts facts{1, {PhaseKind::hw, 0}, 7, 10, 0, true};
  for (int i = 0; i < 4; ++i) {
    (void)planner.ended(facts, i % 2 == 0 ? "It was spoilt." : "");
    if (i % 2 != 0) planner.progress(facts, {});
  }
  (void)planner.ended(facts, "It was spoilt.");
  EXPECT_EQ(to_string(planner.next()), "hw:1");
}

TEST(Planner, WithoutTrueThreadBlocksFlopsAreNotBelieved) {
  Planner planner(planner_options(2));
  WindowFacts facts{1, {PhaseKind::hw, 0}, 7, 10, 0, true};
  CountersOutcome bad;
  bad.keep = false;
  bad.mismatched = true;
  for (; planner.next().kind == PhaseKind::hw; facts.flaws = kCapture) {
    facts.phase = planner.next();
    const bool kept = planner.ended(facts, {}).reason.empty();
    if (kept) planner.counters_read(facts, bad);
  }
  EXPECT_TRUE(planner.take_distrust()) << "one window did not fit, the others were spoilt";
  EXPECT_EQ(play(planner, [](Phase, int) { return KeyNeeds{}; }), "time x3");
}

TEST(Planner, FlopsAreBelievedWhereSomeWindowFitted) {
  Planner planner(planner_options(2));
  WindowFacts facts{1, {PhaseKind::hw, 0}, 7, 10, 0, true};
  CountersOutcome bad;
  bad.keep = false;
  bad.mismatched = true;
  (void)planner.ended(facts, {});
  planner.counters_read(facts, bad);
  (void)planner.ended(facts, {});
  planner.counters_read(facts, {});
  EXPECT_EQ(play(planner, [](Phase, int) { return KeyNeeds{}; }), "hw:2 x1, flops x1, time x3");
}

TEST(Judge, AModuleCostsAFlopsWindowHoweverOften) {
  WindowFacts facts{1, {PhaseKind::flops, 0}, 7, 10, kModuleLoaded, true};
  EXPECT_NE(judge_window(facts, 2).reason, "");
  facts.steps = false;
  EXPECT_NE(judge_window(facts, 2).reason, "");
}

TEST(Judge, WhereEveryStepHasTheFlawTheThirdWindowIsKept) {
  WindowFacts facts{1, {PhaseKind::hw, 0}, 7, 10, kModuleLoaded | kNewFunction, true};
  EXPECT_NE(judge_window(facts, 0).reason, "");
  EXPECT_NE(judge_window(facts, 1).reason, "");
  EXPECT_EQ(judge_window(facts, 2).reason, "");
  facts.phase = {PhaseKind::flops, 0};
  facts.flaws = kNewFunction;
  const auto kept = judge_window(facts, 2);
  EXPECT_EQ(kept.reason, "");
  EXPECT_TRUE(kept.without_new_functions) << "instrumentation may not have seen them";
}

// Ranks that see different things, and are in the same phase all the same.
TEST(Planner, WithRanksTheNumberOfTheWindowAloneDecides) {
  auto of_ranks = planner_options(2);
  of_ranks.wait = of_ranks.warmup = 1;
  of_ranks.by_number = true;
  Planner calm(of_ranks), troubled(of_ranks);
  std::string phases;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const Phase phase = calm.next();
    if (phase.kind == PhaseKind::off) break;
    phases += to_string(phase) + " ";
    WindowFacts facts{1, phase, 7, 10, 0, true};
    (void)calm.ended(facts, {});
    calm.progress(facts, {});

    // Other launches in every step, none in some, spoilt windows, counters that are lost half-way.
    const bool had = i < 4 || phase.kind == PhaseKind::time;
    EXPECT_EQ(to_string(troubled.next()), had ? to_string(phase) : "wait") << "window " << i;
    facts.phase = troubled.next();
    facts.hash = i;
    facts.launches = i % 3 == 0 ? 0 : 10;
    CountersOutcome bad;
    bad.keep = false;
    (void)troubled.ended(facts, i % 2 == 0 ? "It was spoilt." : "");
    if (i % 2 != 0) troubled.counters_read(facts, bad);
    troubled.progress(facts, lacking());
    if (i == 3) {
      troubled.give_up(PhaseKind::hw);
      troubled.give_up(PhaseKind::flops);
    }
  }
  EXPECT_EQ(phases, "wait warmup hw:1 hw:2 flops flops time time time time hw:1 hw:2 hw:1 hw:2 ");
  EXPECT_EQ(troubled.next().kind, PhaseKind::off);
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Each kind of counters goes down the ladder by the ways of its table and by no other, what works
// goes on, and every way down ends.
#include "collector/queue/counting_ladder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace gable {
namespace {

using Rung = CountingLadder::Rung;
using Cause = CountingLadder::Cause;
using Allowed = CountingLadder::Allowed;

constexpr PhaseKind kHw = PhaseKind::hw, kFlops = PhaseKind::flops;
constexpr RangeMode kFirst[] = {RangeMode::user, RangeMode::automatic, RangeMode::layer,
                                RangeMode::replay};
constexpr Cause kCauses[] = {Cause::refused, Cause::denied, Cause::misfit, Cause::too_many,
                             Cause::stalled};
constexpr Allowed kAll{}, kNoAutomatic{false, true}, kNoLayers{true, false}, kNothing{false, false};

bool is_way(Rung from, Rung to) {
  return std::any_of(
      CountingLadder::kWays.begin(), CountingLadder::kWays.end(),
      [&](const CountingLadder::Way& way) { return way.from == from && way.to == to; });
}

// What the kind goes through when it fails again and again.
std::string way_down(CountingLadder& ladder, PhaseKind kind, Cause cause, const Allowed& allowed) {
  std::string out;
  for (int i = 0; i < 100 && ladder.taken(kind); ++i) {
    switch (ladder.rung(kind)) {
      case Rung::replay:
        out += 'r';
        break;
      case Rung::launches:
        out += 'L';
        break;
      case Rung::automatic:
        out += 'A';
        break;
      case Rung::trial:
        out += 't';
        break;
      case Rung::layers:
        out += 'l';
        break;
      case Rung::none:
        break;
    }
    (void)ladder.failed(kind, cause, allowed);
  }
  return out;
}

TEST(CountingLadder, EveryWayDownIsOneOfItsTableAndEnds) {
  std::set<std::pair<Rung, Rung>> taken;
  for (const auto first : kFirst) {
    for (const auto cause : kCauses) {
      for (const auto& allowed : {kAll, kNoAutomatic, kNoLayers, kNothing}) {
        for (const bool hw_works : {false, true}) {
          for (const auto kind : {kHw, kFlops}) {
            CountingLadder ladder(first);
            if (hw_works) (void)ladder.worked(kHw);
            for (int i = 0; ladder.taken(kind); ++i) {
              ASSERT_LT(i, 30);
              const auto from = ladder.rung(kind);
              const auto step = ladder.failed(kind, cause, allowed);
              const auto to = ladder.rung(kind);
              EXPECT_EQ(step.moved, from != to);
              EXPECT_EQ(step.sentence.empty(), from == to);
              if (from == to) continue;
              const bool at_once = cause == Cause::denied || cause == Cause::stalled;
              EXPECT_TRUE(at_once || is_way(from, to));
              taken.insert({from, to});
            }
          }
        }
      }
    }
  }
  for (const auto& way : CountingLadder::kWays)
    EXPECT_TRUE(taken.contains({way.from, way.to}))
        << static_cast<int>(way.from) << " to " << static_cast<int>(way.to);
}

TEST(CountingLadder, ARefusalLeadsToAutomaticRangesThenToLayers) {
  CountingLadder ladder(RangeMode::user);
  EXPECT_EQ(ladder.mode(kHw), RangeMode::user);
  auto step = ladder.failed(kHw, Cause::refused, kAll);
  EXPECT_TRUE(step.moved);
  EXPECT_FALSE(step.scope_changed);
  EXPECT_EQ(ladder.mode(kHw), RangeMode::automatic);
  EXPECT_EQ(ladder.mode(kFlops), RangeMode::automatic);  // it was not tried yet: it follows
  step = ladder.failed(kHw, Cause::refused, kAll);
  EXPECT_TRUE(step.scope_changed);
  EXPECT_TRUE(ladder.by_layers());
  EXPECT_EQ(ladder.mode(kFlops), RangeMode::layer);
}

TEST(CountingLadder, WhereOtherRanksMayWaitNothingIsAutomatic) {
  CountingLadder ladder(RangeMode::user);
  EXPECT_EQ(way_down(ladder, kHw, Cause::refused, kNoAutomatic), "Ll");
  CountingLadder bare(RangeMode::user);
  EXPECT_EQ(way_down(bare, kHw, Cause::refused, kNothing), "L");
}

TEST(CountingLadder, WhatTheUserChoseIsWhereItBegins) {
  CountingLadder automatic(RangeMode::automatic), layers(RangeMode::layer),
      replay(RangeMode::replay);
  EXPECT_EQ(way_down(automatic, kHw, Cause::refused, kAll), "Al");
  EXPECT_EQ(way_down(layers, kHw, Cause::refused, kAll), "l");
  EXPECT_TRUE(layers.by_layers());
  EXPECT_EQ(way_down(replay, kHw, Cause::refused, kAll), "r");
}

TEST(CountingLadder, WhatWorkedBearsOneRefusal) {
  CountingLadder ladder(RangeMode::user);
  (void)ladder.worked(kHw);
  EXPECT_FALSE(ladder.failed(kHw, Cause::refused, kAll).moved);
  (void)ladder.worked(kHw);
  EXPECT_FALSE(ladder.failed(kHw, Cause::refused, kAll).moved);
  EXPECT_TRUE(ladder.failed(kHw, Cause::refused, kAll).moved);
  EXPECT_EQ(ladder.rung(kHw), Rung::automatic);
}

TEST(CountingLadder, ThreeMisfitsInARowAreARungThatDoesNotWork) {
  CountingLadder ladder(RangeMode::user);
  EXPECT_FALSE(ladder.failed(kHw, Cause::misfit, kAll).moved);
  EXPECT_FALSE(ladder.failed(kHw, Cause::misfit, kAll).moved);
  (void)ladder.worked(kHw);
  // Of automatic ranges one window shows it.
  EXPECT_EQ(way_down(ladder, kHw, Cause::misfit, kAll), "LLLAt");
}

TEST(CountingLadder, HardwareThatNeverFittedTakesFlopsAlong) {
  CountingLadder ladder(RangeMode::user);
  (void)way_down(ladder, kHw, Cause::misfit, kAll);
  EXPECT_FALSE(ladder.taken(kFlops));
  EXPECT_FALSE(ladder.by_layers());  // nothing was counted of layers
}

TEST(CountingLadder, MoreLaunchesThanRangesAreNotHelpedByOtherRangesOfLaunches) {
  CountingLadder ladder(RangeMode::user);
  const auto step = ladder.failed(kHw, Cause::too_many, kAll);
  EXPECT_TRUE(step.scope_changed);
  EXPECT_EQ(ladder.rung(kHw), Rung::layers);
}

TEST(CountingLadder, OneKindAloneGoesOnWhereItWas) {
  CountingLadder ladder(RangeMode::user);
  (void)ladder.worked(kHw);
  EXPECT_EQ(way_down(ladder, kFlops, Cause::refused, kAll), "LAt");
  EXPECT_EQ(ladder.rung(kHw), Rung::launches);
  EXPECT_FALSE(ladder.by_layers());
  (void)ladder.worked(kHw);
  EXPECT_EQ(way_down(ladder, kHw, Cause::refused, kNothing), "LL");
}

TEST(CountingLadder, FlopsAloneBeginAtTheTop) {
  CountingLadder ladder(RangeMode::user);
  (void)ladder.failed(kHw, Cause::refused, kAll);
  (void)ladder.failed(kHw, Cause::refused, kAll);
  ASSERT_TRUE(ladder.by_layers());
  const auto step = ladder.failed(kHw, Cause::refused, kAll);
  EXPECT_FALSE(ladder.taken(kHw));
  EXPECT_TRUE(step.scope_changed);
  EXPECT_FALSE(ladder.by_layers());
  EXPECT_EQ(ladder.rung(kFlops), Rung::launches);
}

TEST(CountingLadder, ATrialOfLayersThatWorksIsForAllCounters) {
  CountingLadder ladder(RangeMode::user);
  (void)ladder.worked(kHw);
  (void)ladder.failed(kFlops, Cause::refused, kNoAutomatic);
  ASSERT_TRUE(ladder.on_trial(kFlops));
  EXPECT_EQ(ladder.mode(kFlops), RangeMode::layer);
  EXPECT_EQ(ladder.mode(kHw), RangeMode::user);
  const auto step = ladder.worked(kFlops);
  EXPECT_TRUE(step.scope_changed);
  EXPECT_EQ(ladder.mode(kHw), RangeMode::layer);
  // What worked above does not come back to a rung where the other kind failed.
  (void)way_down(ladder, kHw, Cause::refused, kAll);
  EXPECT_EQ(ladder.rung(kFlops), Rung::layers);
}

TEST(CountingLadder, WhatNoOtherWayOfAskingChangesEndsAllAtOnce) {
  CountingLadder ladder(RangeMode::user);
  (void)ladder.worked(kHw);
  const auto step = ladder.failed(kFlops, Cause::denied, kAll);
  EXPECT_EQ(step.sentence, "No more counters are taken.");
  EXPECT_FALSE(ladder.taken(kHw));
  EXPECT_FALSE(ladder.taken(kFlops));
  EXPECT_FALSE(ladder.failed(kFlops, Cause::denied, kAll).moved);  // said once
}

TEST(CountingLadder, PausesCostTheirWindowsUntilThreeInARow) {
  CountingLadder ladder(RangeMode::user);
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(ladder.failed(kHw, Cause::stalled, kAll).moved);
    EXPECT_FALSE(ladder.failed(kHw, Cause::stalled, kAll).moved);
    (void)ladder.worked(kHw);
  }
  EXPECT_EQ(way_down(ladder, kHw, Cause::stalled, kAll), "LLL");
  EXPECT_FALSE(ladder.taken(kFlops));
}

TEST(CountingLadder, APauseEndsTheTrialOfAutomaticRanges) {
  CountingLadder ladder(RangeMode::user);
  (void)ladder.failed(kHw, Cause::refused, kAll);
  EXPECT_TRUE(ladder.failed(kHw, Cause::stalled, kAll).moved);
  EXPECT_EQ(ladder.rung(kHw), Rung::layers);
}

TEST(CountingLadder, ACommunicatorEndsAutomaticRanges) {
  CountingLadder chosen(RangeMode::automatic);
  EXPECT_TRUE(chosen.forbid_automatic(kNoAutomatic).moved);
  EXPECT_EQ(chosen.mode(kHw), RangeMode::user);
  EXPECT_EQ(chosen.mode(kFlops), RangeMode::user);
  // Where ranges of launches were refused before, there are layers.
  CountingLadder fell(RangeMode::user);
  (void)fell.failed(kHw, Cause::refused, kAll);
  (void)fell.worked(kHw);
  (void)fell.worked(kFlops);
  EXPECT_FALSE(fell.forbid_automatic(kNoAutomatic).scope_changed);  // a trial shows it first
  EXPECT_EQ(fell.mode(kHw), RangeMode::layer);
  EXPECT_EQ(fell.mode(kFlops), RangeMode::layer);
  EXPECT_FALSE(fell.forbid_automatic(kNoAutomatic).moved);
}

TEST(CountingLadder, AnotherQueueAsksAgain) {
  CountingLadder ladder(RangeMode::user);
  (void)ladder.failed(kHw, Cause::denied, kAll);
  ladder.begin_anew();
  EXPECT_EQ(ladder.rung(kHw), Rung::launches);
  EXPECT_EQ(ladder.rung(kFlops), Rung::launches);
}

TEST(CountingLadder, WhatIsNotWantedIsNotTaken) {
  CountingLadder ladder(RangeMode::user, true, false);
  EXPECT_FALSE(ladder.taken(kFlops));
  EXPECT_EQ(way_down(ladder, kHw, Cause::refused, kAll), "LAl");
}

}  // namespace
}  // namespace gable

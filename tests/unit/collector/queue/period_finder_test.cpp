// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/period_finder.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "collector/process/hash.h"

namespace gable {
namespace {

using Sequence = std::vector<std::uint64_t>;

// A launch sequence as it goes on, and the marks it met with.
struct Program {
  PeriodFinder finder;
  std::uint64_t launches = 0;
  struct At {
    PeriodMark mark;
    std::uint64_t launch;  // from 1
    std::uint32_t length;
    bool operator==(const At&) const = default;
  };
  std::vector<At> news;                // but for borders
  std::vector<std::uint64_t> borders;  // the launches that begin a step
  PeriodMark last = PeriodMark::none;

  void launch(std::uint64_t key, std::uint32_t kernels = 1) {
    last = finder.add(mix64(key + 1, 0x9E3779B97F4A7C15ull), kernels);
    ++launches;
    if (last == PeriodMark::none) return;
    if (last != PeriodMark::lost && last != PeriodMark::gone) borders.push_back(launches);
    if (last != PeriodMark::begins) news.push_back({last, launches, finder.length()});
  }
  void play(const Sequence& sequence, int times = 1) {
    for (int i = 0; i < times; ++i)
      for (const auto key : sequence) launch(key);
  }
};

Sequence keys(std::uint64_t first, std::size_t count) {
  Sequence all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

Sequence operator+(Sequence a, const Sequence& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

using At = Program::At;

TEST(PeriodFinder, AfterThreeEqualStretchesAStepBegins) {
  Program program;
  program.play(keys(1000, 5));  // setting up
  program.play(keys(0, 8), 3);
  EXPECT_TRUE(program.news.empty());
  program.play(keys(0, 8), 4);
  EXPECT_EQ(program.news, (std::vector<At>{{PeriodMark::found, 30, 8}}));
  EXPECT_EQ(program.borders, (std::vector<std::uint64_t>{30, 38, 46, 54}));
}

TEST(PeriodFinder, FewerThanEightLaunchesAreNoStep) {
  Program one, seven;
  one.play({1}, 1000);
  seven.play(keys(0, 7), 1000);
  EXPECT_TRUE(one.news.empty());
  EXPECT_TRUE(seven.news.empty());
  EXPECT_FALSE(one.finder.hopeful());
  EXPECT_FALSE(seven.finder.hopeful());
}

TEST(PeriodFinder, KernelsOfGraphsCount) {
  Program program;
  for (int step = 0; step < 5; ++step) {
    program.launch(1, 30);
    program.launch(2);
  }
  EXPECT_EQ(program.news, (std::vector<At>{{PeriodMark::found, 7, 31}}));
}

TEST(PeriodFinder, TheSameKernelSeveralTimesInAStep) {
  Program program;
  program.play(Sequence{1, 2, 1, 2, 1, 2, 1, 2} + Sequence{3}, 5);
  EXPECT_EQ(program.news, (std::vector<At>{{PeriodMark::found, 36, 9}}));
}

TEST(PeriodFinder, EqualNumbersOfOtherLaunchesAreNoPeriod) {
  Program program;
  for (std::uint64_t step = 0; step < 100; ++step)
    program.play(Sequence{1} + keys(100 * step + 7, 9));
  EXPECT_TRUE(program.news.empty());
}

TEST(PeriodFinder, ALoopAroundTheLoopIsTheStep) {
  Program program;
  Sequence step;
  for (int layer = 0; layer < 12; ++layer) step = step + keys(0, 10);
  step = step + keys(50, 20);
  program.play(step, 6);
  ASSERT_EQ(program.news.size(), 2) << "the layers first, then the step";
  EXPECT_EQ(program.news[0], (At{PeriodMark::found, 31, 10}));
  EXPECT_EQ(program.news[1], (At{PeriodMark::found, 3 * 140 + 121, 140}));
  EXPECT_EQ(program.borders.back(), 5 * 140 + 121);
}

TEST(PeriodFinder, ALogEveryNowAndThenChangesNothing) {
  Program program;
  for (int step = 0; step < 100; ++step) {
    program.play(keys(0, 50));
    if (step % 10 == 9) program.play(keys(500, 5));
  }
  ASSERT_EQ(program.news.size(), 1);
  EXPECT_EQ(program.news[0].length, 50);
  EXPECT_EQ(program.borders.size(), 97) << "of every step after the third";
}

TEST(PeriodFinder, StepsOfTwoKindsKeepTheirBorders) {
  Program program;
  program.play(keys(0, 20), 5);
  for (int i = 0; i < 40; ++i) {
    const bool other = i * 7 % 3 == 0;
    program.play(Sequence{0} + (other ? keys(1, 12) : keys(1, 19)));
  }
  EXPECT_EQ(program.news.size(), 1);
  EXPECT_EQ(program.borders.size(), 42);
}

TEST(PeriodFinder, AnotherLoopIsFoundWhereTheFirstEnds) {
  Program program;
  program.play(keys(0, 20), 10);
  program.play(keys(100, 60), 10);
  ASSERT_EQ(program.news.size(), 3);
  EXPECT_EQ(program.news[1].mark, PeriodMark::lost);
  EXPECT_EQ(program.news[2].mark, PeriodMark::changed);
  EXPECT_EQ(program.news[2].length, 60);
}

TEST(PeriodFinder, ALongerLoopMayComeBeforeTheFirstIsMissed) {
  Program program;
  program.play(keys(0, 100), 10);
  program.play(keys(200, 110), 5);
  ASSERT_EQ(program.news.size(), 2);
  EXPECT_EQ(program.news[1], (At{PeriodMark::changed, 1000 + 3 * 110 + 1, 110}));
}

TEST(PeriodFinder, AnchorsThatStayWhereTheLoopIsAnotherAreGivenUp) {
  Program program;
  program.play(keys(0, 20), 10);
  // Twice a step, so that stretches from one to the next are of two kinds.
  program.play(Sequence{0} + keys(100, 9) + Sequence{0} + keys(200, 8), 20);
  ASSERT_GE(program.news.size(), 3);
  EXPECT_EQ(program.news[1].mark, PeriodMark::lost);
  EXPECT_EQ(program.finder.length(), 19);
}

TEST(PeriodFinder, WhereNothingRepeatsAnyMoreThePeriodIsGone) {
  Program program;
  program.play(keys(0, 20), 10);
  program.play(keys(1000, 2000));
  ASSERT_EQ(program.news.size(), 3);
  EXPECT_EQ(program.news[1].mark, PeriodMark::lost);
  EXPECT_EQ(program.news[2].mark, PeriodMark::gone);
  EXPECT_EQ(program.finder.length(), 0);
}

TEST(PeriodFinder, ProgramsThatKeepChangingAreLeftAlone) {
  Program program;
  std::uint64_t next = 0;
  for (int loop = 0; loop < 50; ++loop) {
    program.play(keys(next, 20), 5);
    program.play(keys(next + 20, 2000));
    next += 5000;
  }
  std::size_t found = 0;
  for (const auto& each : program.news) found += each.mark == PeriodMark::found ? 1 : 0;
  EXPECT_EQ(found, PeriodFinder::kMostFound);
}

TEST(PeriodFinder, TheLongestPeriodIsFoundAndNoLongerOne) {
  Program longest, longer;
  // Of few keys, but for one: as many as it remembers.
  const auto step = [](std::uint32_t length) {
    Sequence all{99};
    for (std::uint32_t i = 1; i < length; ++i) all.push_back(i % 7);
    return all;
  };
  longest.play(step(PeriodFinder::kLongest), 3);
  longer.play(step(PeriodFinder::kLongest + 1), 3);
  EXPECT_TRUE(longest.news.empty());
  longest.launch(99);
  longer.launch(99);
  EXPECT_EQ(longest.finder.length(), PeriodFinder::kLongest);
  EXPECT_TRUE(longer.news.empty());
}

TEST(PeriodFinder, OldKeysGiveWayToNewOnes) {
  Program program;
  program.play(keys(1000, std::size_t{10} * PeriodFinder::kKeys));
  EXPECT_TRUE(program.news.empty());
  program.play(keys(0, 1000), 5);
  ASSERT_EQ(program.news.size(), 1);
  EXPECT_EQ(program.news[0].length, 1000);
}

TEST(PeriodFinder, LooksOnAsLongAsALongerPeriodMayCome) {
  Program program;
  program.play(keys(0, 8), 4);
  EXPECT_TRUE(program.finder.hopeful());
  program.play(keys(0, 8), PeriodFinder::kLookAround / 8);
  EXPECT_FALSE(program.finder.hopeful());
  Program none;
  none.play(keys(0, PeriodFinder::kLookOn - 1));
  EXPECT_TRUE(none.finder.hopeful());
  none.play(keys(500000, 2));
  EXPECT_FALSE(none.finder.hopeful());
}

TEST(PeriodFinder, WhatIsHalfSeenIsWaitedFor) {
  Program program;
  const auto step = keys(0, PeriodFinder::kLookOn / 2 + 1);
  program.play(step, 2);
  EXPECT_FALSE(program.finder.hopeful()) << "one stretch";
  program.launch(0);
  EXPECT_TRUE(program.finder.hopeful()) << "two equal ones";
}

TEST(PeriodFinder, AfterLaunchesThatNobodySawItGoesOnAtTheAnchor) {
  Program program;
  program.play(keys(0, 20), 5);
  program.finder.skip();
  program.play(keys(7, 13));
  program.play(keys(0, 20), 2);
  EXPECT_EQ(program.news.size(), 1);
  EXPECT_EQ(program.borders, (std::vector<std::uint64_t>{61, 81, 114, 134}));
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// A range that comes again around the launches is the step; what only looks like one must not be.
#include "collector/recurring_range.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gable {
namespace {

// A program of one thread, told as ranges and launches. Marks are collected as letters: F found,
// B begins, E ends, G gone.
class Told {
 public:
  RecurringRange finder;
  std::string marks;

  Told& begin(LayerId range, const void* thread = &kMain) {
    take(finder.begin(level_++, range, thread, seen_));
    return *this;
  }
  Told& end(const void* thread = &kMain) {
    take(finder.end(--level_, thread, seen_));
    return *this;
  }
  // Launches of one kind each; `kind` makes them differ.
  Told& launch(std::uint64_t count, std::uint64_t kind = 1, bool own = true) {
    seen_.launches += count;
    seen_.hash += count * kind;
    if (own) seen_.own += count;
    return *this;
  }
  Told& range(LayerId range, std::uint64_t launches, std::uint64_t kind = 1) {
    return begin(range).launch(launches, kind).end();
  }
  [[nodiscard]] bool out_of_patience() const { return seen_.launches > finder.patience_ends(); }

  static constexpr char kMain = 0, kOther = 0;

 private:
  void take(RangeMark mark) {
    if (mark != RangeMark::none) marks += " FBEG"[static_cast<std::size_t>(mark)];
  }
  std::uint32_t level_ = 0;
  LaunchesSeen seen_;
};

constexpr LayerId kStep = 1, kForward = 2, kBackward = 3, kOptimizer = 4, kEpoch = 5, kPrefill = 6;

TEST(RecurringRange, IsTheStepFromItsSecondInstanceOn) {
  Told told;
  told.range(kStep, 120, 7);
  EXPECT_EQ(told.marks, "");
  told.begin(kStep);
  EXPECT_EQ(told.marks, "F");
  EXPECT_EQ(told.finder.first().launches, 120u);
  EXPECT_EQ(told.finder.first().hash, 840u);
  told.launch(100).end().range(kStep, 100).range(kStep, 100);
  EXPECT_EQ(told.marks, "FEBEBE");
  EXPECT_FALSE(told.finder.repeated()) << "its first instance may have been another";
}

TEST(RecurringRange, FewLaunchesAreNoStep) {
  Told told;
  for (int i = 0; i < 50; ++i) told.range(kStep, 7);
  EXPECT_EQ(told.marks, "");
}

TEST(RecurringRange, LaunchesBetweenItsInstancesSayThatItIsNone) {
  Told told;
  for (int i = 0; i < 50; ++i) told.range(kForward, 100).launch(120);
  EXPECT_EQ(told.marks, "");
}

TEST(RecurringRange, ALaunchOrTwoBetweenStepsIsNothing) {
  Told told;
  for (int i = 0; i < 5; ++i) told.range(kStep, 200).launch(3);
  EXPECT_EQ(told.marks, "FEBEBEBE");
}

TEST(RecurringRange, RangesInTurnAreOneStepTogether) {
  Told told;
  const auto step = [&told] {
    told.range(kForward, 50, 2).range(kBackward, 90, 3).range(kOptimizer, 5, 4);
  };
  told.range(kPrefill, 30);  // something before
  step();
  step();
  EXPECT_EQ(told.marks, "");
  step();
  step();
  EXPECT_EQ(told.marks, "FB") << "a step lasts until the next one begins";
  EXPECT_EQ(told.finder.ranges(), (std::vector<LayerId>{kForward, kBackward, kOptimizer}));
  EXPECT_TRUE(told.finder.repeated());
}

TEST(RecurringRange, RangesInTurnWhoseLaunchesDifferAreNoStep) {
  Told told;
  for (std::uint64_t i = 0; i < 30; ++i)
    told.range(kForward, 50, i).range(kBackward, 90, i).range(kOptimizer, 5, i);
  EXPECT_EQ(told.marks, "");
}

TEST(RecurringRange, LayersInTurnAreLeftToThePeriod) {
  Told told;
  for (int i = 0; i < 20; ++i) {
    told.range(kForward, 5);
    for (int block = 0; block < 3; ++block) told.range(kBackward, 2);
    told.range(kOptimizer, 1);
  }
  EXPECT_EQ(told.marks, "");
}

TEST(RecurringRange, AStepWithinAnEpochIsFoundThere) {
  Told told;
  told.begin(kEpoch).launch(1);
  for (int i = 0; i < 4; ++i) told.range(kStep, 100);
  EXPECT_EQ(told.marks, "FEBE");
  told.end().begin(kEpoch);
  EXPECT_EQ(told.marks, "FEBE") << "nothing beside the steps: the epoch is none";
  told.range(kStep, 100);
  EXPECT_EQ(told.marks, "FEBEBE");
}

// A step of equal blocks, and more beside them.
TEST(RecurringRange, TheStepAroundInnerRangesTakesTheirPlace) {
  Told told;
  const auto step = [&told] {
    told.begin(kStep).launch(10);
    for (int i = 0; i < 6; ++i) told.range(kForward, 20);
    told.launch(150).end();
  };
  step();
  EXPECT_EQ(told.marks, "FEBEBEBE");
  told.marks.clear();
  step();
  EXPECT_EQ(told.marks, "FE") << "outer";
  EXPECT_EQ(told.finder.ranges(), std::vector<LayerId>{kStep});
  step();
  EXPECT_EQ(told.marks, "FEBE");
}

TEST(RecurringRange, DecodeBesidePrefillAreStepsOfTheirOwn) {
  Told told;
  for (int request = 0; request < 3; ++request) {
    told.range(kPrefill, 300);
    for (int i = 0; i < 4; ++i) told.range(kStep, 40);
  }
  EXPECT_EQ(told.marks,
            "FEBEBE"
            "BEBEBEBEBE"
            "BEBEBEBEBE");
}

TEST(RecurringRange, AValidationBesideTrainingIsNoReasonToBegin) {
  Told told;
  for (int i = 0; i < 6; ++i) told.range(kStep, 100);
  told.range(kForward, 40).range(kForward, 40).range(kStep, 100);
  EXPECT_EQ(told.marks,
            "FEBEBEBEBE"
            "BE"
            "BE")
      << "its first instance is none";
}

TEST(RecurringRange, LaunchesThatCameBetweenLaterEndIt) {
  Told told;
  for (int i = 0; i < 4; ++i) told.range(kForward, 100);
  EXPECT_EQ(told.marks, "FEBEBE");
  told.launch(300).range(kForward, 100);
  EXPECT_EQ(told.marks, "FEBEBEBE") << "once: a validation without a range";
  told.launch(300).begin(kForward);
  EXPECT_EQ(told.marks, "FEBEBEBEG");
}

TEST(RecurringRange, AProgramThatGoesOnWithoutItIsNotWaitedForLong) {
  Told told;
  for (int i = 0; i < 4; ++i) told.range(kStep, 100);
  told.launch(2000);
  EXPECT_FALSE(told.out_of_patience());
  told.launch(300);
  EXPECT_TRUE(told.out_of_patience());
}

TEST(RecurringRange, LooksForNothingAfterItWasWrongThreeTimes) {
  Told told;
  for (int i = 0; i < 100; ++i) {
    told.range(kStep, 100).range(kStep, 100);
    for (int between = 0; between < 3; ++between) told.launch(500).range(kStep, 100);
  }
  EXPECT_EQ(std::count(told.marks.begin(), told.marks.end(), 'F'), 3);
  EXPECT_EQ(std::count(told.marks.begin(), told.marks.end(), 'G'), 3);
  EXPECT_TRUE(told.finder.gave_up());
}

TEST(RecurringRange, AThreadThatOnlyLoadsDataHasNoSteps) {
  Told told;
  for (int i = 0; i < 20; ++i)
    told.begin(kPrefill, &Told::kOther).launch(100, 1, false).end(&Told::kOther);
  EXPECT_EQ(told.marks, "");
  told.range(kStep, 100).range(kStep, 100);
  EXPECT_EQ(told.marks, "FE") << "the next thread is looked at";
}

TEST(RecurringRange, RangesOfOtherThreadsAreNotLookedAt) {
  Told told;
  told.range(kStep, 100);
  told.begin(kStep, &Told::kOther).launch(100).end(&Told::kOther);
  EXPECT_EQ(told.marks, "");
}

TEST(RecurringRange, RangesOfTheProcessCountWhoeverLaunches) {
  Told told;
  for (int i = 0; i < 3; ++i) told.begin(kStep, nullptr).launch(100, 1, false).end(nullptr);
  EXPECT_EQ(told.marks, "FEBE");
}

TEST(RecurringRange, GoesOnAfterRangesThatNobodySaw) {
  Told told;
  for (int i = 0; i < 3; ++i) told.range(kStep, 100);
  told.finder.skip();
  told.launch(100000).range(kStep, 100).range(kStep, 100);
  EXPECT_EQ(told.marks, "FEBEBEBE");
}

}  // namespace
}  // namespace gable

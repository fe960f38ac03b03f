// SPDX-License-Identifier: Apache-2.0
// A range that recurs around the launches is the step; what only looks like one must not be.
#include "collector/queue/recurring_range.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace gable {
namespace {

// A program told as ranges and launches, of its main thread unless said otherwise. Marks are
// collected as letters: F found, B begins, E ends, G gone.
class Told {
 public:
  static constexpr char kMain = 0, kOther = 0;

  RecurringRange finder;
  std::string marks;

  Told& begin(LayerId range, const void* thread = &kMain) {
    take(finder.begin(levels_[thread]++, range, thread, seen_by(thread)));
    return *this;
  }
  Told& end(const void* thread = &kMain) {
    take(finder.end(--levels_[thread], thread, seen_by(thread)));
    return *this;
  }
  // Launches of one kind each; `kind` makes them differ.
  Told& launch(std::uint64_t count, std::uint64_t kind = 1, const void* thread = &kMain) {
    if (count == 0) return *this;
    seen_.launches += count;
    seen_.hash += count * kind;
    own_[thread] += count;
    if (thread != last_) ++seen_.switches;
    last_ = thread;
    return *this;
  }
  Told& other(std::uint64_t count, std::uint64_t kind = 1) { return launch(count, kind, &kOther); }
  Told& range(LayerId range, std::uint64_t launches, std::uint64_t kind = 1) {
    return begin(range).launch(launches, kind).end();
  }
  // Each launch of the main thread followed by so many of the other's.
  Told& mixed(LayerId range, const std::vector<std::uint64_t>& others) {
    begin(range);
    for (const auto count : others) launch(1).other(count);
    return end();
  }
  [[nodiscard]] bool out_of_patience() const { return seen_.launches > finder.patience_ends(); }

 private:
  LaunchesSeen seen_by(const void* thread) {
    seen_.caller = thread == nullptr ? &kMain : thread;
    seen_.own = own_[seen_.caller];
    return seen_;
  }
  void take(RangeMark mark) {
    if (mark != RangeMark::none) marks += " FBEG"[static_cast<std::size_t>(mark)];
  }
  std::map<const void*, std::uint32_t> levels_;
  std::map<const void*, std::uint64_t> own_;
  const void* last_ = nullptr;
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
  for (int i = 0; i < 20; ++i) told.begin(kPrefill, &Told::kOther).launch(100).end(&Told::kOther);
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
  for (int i = 0; i < 3; ++i) told.begin(kStep, nullptr).other(100).end(nullptr);
  EXPECT_EQ(told.marks, "FEBE");
}

TEST(RecurringRange, GoesOnAfterRangesThatNobodySaw) {
  Told told;
  for (int i = 0; i < 3; ++i) told.range(kStep, 100);
  told.finder.skip();
  told.launch(100000).range(kStep, 100).range(kStep, 100);
  EXPECT_EQ(told.marks, "FEBEBEBE");
}

// --- threads

// Backward runs on a thread of PyTorch's, while the main thread waits for it.
TEST(RecurringRange, AnotherThreadsBackwardBelongsToTheStep) {
  Told told;
  for (int i = 0; i < 4; ++i) told.begin(kStep).launch(100).other(150, 2).launch(20, 3).end();
  EXPECT_EQ(told.marks, "FEBEBE");
  EXPECT_EQ(told.finder.first().launches, 270u);
}

TEST(RecurringRange, TheSameInARangeOfTheProcess) {
  Told told;
  for (int i = 0; i < 4; ++i)
    told.begin(kStep, nullptr).launch(100).other(150, 2).launch(20, 3).end(nullptr);
  EXPECT_EQ(told.marks, "FEBEBE");
}

// emit_nvtx names the operators of backward on their own thread.
TEST(RecurringRange, RangesOfAnotherThreadWithinTheStepAreNoSign) {
  Told told;
  for (int i = 0; i < 14; ++i) {
    told.begin(kStep).launch(100);
    for (int op = 0; op < 10; ++op)
      told.begin(kBackward, &Told::kOther).other(15, 2).end(&Told::kOther);
    told.launch(20, 3).end();
  }
  EXPECT_EQ(told.marks, "FEBEBEBEBEBEBEBEBEBEBEBEBE");
}

// cuDNN tries algorithms in the first backward; the main thread launches what it always does.
TEST(RecurringRange, AFirstBackwardOfMoreLaunchesIsNoSign) {
  Told told;
  for (int i = 0; i < 5; ++i) told.begin(kStep).launch(100).other(i == 0 ? 190 : 150).end();
  EXPECT_EQ(told.marks, "FEBEBEBE");
}

TEST(RecurringRange, TheThreadsOfSeveralGpusLaunchSideBySideButTheSame) {
  Told told;
  for (int i = 0; i < 4; ++i) told.mixed(kStep, {3, 0, 2, 5, 1, 1, 4, 4});
  EXPECT_EQ(told.marks, "FEBE") << "one step later";
  EXPECT_TRUE(told.finder.repeated());
}

// What went wrong: `layer` of one of two threads that launch as they please. The other did not
// launch between the first two.
TEST(RecurringRange, ThreadsThatLaunchAsTheyPleaseHaveNoStep) {
  Told told;
  told.mixed(kForward, {1, 1, 2, 1}).mixed(kForward, {1, 0, 1, 1});
  for (std::uint64_t i = 0; i < 60; ++i)
    told.mixed(kForward, {i % 3, 1, 5 * i % 7, 1}).other(i % 2 * 2);
  EXPECT_EQ(told.marks, "");
}

// After a sign of free threads eight instances pass without one, and the next may be the step.
TEST(RecurringRange, ASignOfFreeThreadsIsForgottenAfterEightInstances) {
  Told told;
  told.range(kStep, 100).other(50).begin(kStep);  // launches of another between its instances
  EXPECT_EQ(told.marks, "");
  told.launch(100).end();
  for (int more = 1; more < 8; ++more) told.range(kStep, 100);
  EXPECT_EQ(told.marks, "");
  told.range(kStep, 100);
  EXPECT_EQ(told.marks, "FE");
}

// As before, but the other thread began late: until then there was nothing to be seen.
TEST(RecurringRange, AStepIsDroppedAtTheFirstLaunchesBesideIt) {
  Told told;
  told.range(kStep, 20).range(kStep, 20);
  EXPECT_EQ(told.marks, "FE");
  told.begin(kStep).launch(10).other(7).launch(10).end().other(3);
  EXPECT_EQ(told.marks, "FEBE");
  told.begin(kStep);
  EXPECT_EQ(told.marks, "FEBEG");
  told.launch(20).end();
  for (int i = 0; i < 40; ++i) told.begin(kStep).launch(10).other(7).launch(10).end().other(i % 2);
  EXPECT_EQ(told.marks, "FEBEG") << "and not found again";
}

TEST(RecurringRange, ARangeOfAnotherThreadAcrossABorderSaysThatItIsNone) {
  Told told;
  told.range(kStep, 20).begin(kStep);
  EXPECT_EQ(told.marks, "F");
  told.begin(kPrefill, &Told::kOther).other(5).launch(20).end().begin(kStep).other(5);
  told.end(&Told::kOther);
  EXPECT_EQ(told.marks, "FEBG");
}

TEST(RecurringRange, ARangeOfAThreadThatLaunchesNothingIsNoSign) {
  Told told;
  for (int i = 0; i < 5; ++i) {
    told.begin(kStep).begin(kPrefill, &Told::kOther).launch(20).end();
    told.begin(kOptimizer).end(&Told::kOther).end();
  }
  EXPECT_EQ(told.marks, "FEBEBEBE");
}

TEST(RecurringRange, LaunchesThatOnlyTheOthersVarySayThatItIsNone) {
  Told told;
  for (std::uint64_t i = 0; i < 12; ++i) told.begin(kStep).launch(100).other(10 + i * 9).end();
  EXPECT_EQ(told.marks, "FEBG") << "twice in a row, beside the first";
}

TEST(RecurringRange, AProvenStepSurvivesOneSign) {
  Told told;
  const auto step = [&told] { told.begin(kStep).launch(100).other(100).end(); };
  for (int i = 0; i < 12; ++i) step();
  told.other(50);
  step();
  EXPECT_EQ(told.marks.find('G'), std::string::npos) << "a validation on another thread, once";
  told.other(50);
  step();
  EXPECT_EQ(std::count(told.marks.begin(), told.marks.end(), 'G'), 1);
}

TEST(RecurringRange, FreeThreadsThatFellSilentAreForgiven) {
  Told told;
  for (int i = 0; i < 3; ++i) told.range(kStep, 100).other(30);
  EXPECT_EQ(told.marks, "");
  for (std::uint32_t i = 0; i < RecurringRange::kProof; ++i) told.range(kStep, 100);
  EXPECT_EQ(told.marks, "");
  told.range(kStep, 100).range(kStep, 100);
  EXPECT_EQ(told.marks, "FEBE");
}

TEST(RecurringRange, WarmingUpBeforeTheFirstInstanceIsNoSign) {
  Told told;
  told.range(kPrefill, 30).launch(100).other(150);
  for (int i = 0; i < 3; ++i) told.begin(kStep).launch(100).other(150).end();
  EXPECT_EQ(told.marks, "FEBE");
}

TEST(RecurringRange, RangesOfTheProcessThatOverlapAreNoSteps) {
  RecurringRange finder;
  std::string marks;
  LaunchesSeen seen;
  for (int i = 0; i < 20; ++i) {
    // One begins at the other's level as soon as that has ended.
    for (const bool begins : {true, false}) {
      seen.launches += 10;
      seen.own += 10;
      const auto mark =
          begins ? finder.begin(1, kBackward, nullptr, seen) : finder.end(0, nullptr, seen);
      if (mark != RangeMark::none) marks += " FBEG"[static_cast<std::size_t>(mark)];
      const auto next = begins ? RangeMark::none : finder.begin(0, kForward, nullptr, seen);
      if (next != RangeMark::none) marks += " FBEG"[static_cast<std::size_t>(next)];
    }
  }
  EXPECT_EQ(marks, "");
}

}  // namespace
}  // namespace gable

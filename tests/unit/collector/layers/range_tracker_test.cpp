// SPDX-License-Identifier: Apache-2.0
// A launch in the wrong layer is a wrong number in two rows of the report.
#include "collector/layers/range_tracker.h"

#include <gtest/gtest.h>

namespace gable {
namespace {

class RangeTrackerTest : public testing::Test {
 protected:
  LayerTree layers;
  RangeTracker tracker{layers, RangeNaming({}, "^step"), {}};
  ThreadRanges main, other;

  RangeTrackerTest() { main.is_main = true; }

  int push(ThreadRanges& thread, std::string_view name, DomainId domain = 0,
           Direction direction = Direction::none) {
    return tracker.push(thread, domain, name, direction, kNoWindow, 0);
  }
  std::string layer(ThreadRanges& thread) {
    return layers.shown(tracker.layer_of_launch(thread, inherited));
  }
  bool inherited = false;
};

TEST_F(RangeTrackerTest, PathIsTheOpenRanges) {
  EXPECT_EQ(push(main, "net"), 0);
  EXPECT_EQ(push(main, "conv1"), 1);
  EXPECT_EQ(layer(main), "net/conv1");
  EXPECT_EQ(tracker.pop(main, 0).depth, 1);
  EXPECT_EQ(layer(main), "net");
  EXPECT_EQ(tracker.pop(main, 0).depth, 0);
  EXPECT_EQ(layer(main), layers.shown(0));
}

TEST_F(RangeTrackerTest, UnbalancedPopsChangeNothing) {
  EXPECT_LT(tracker.pop(main, 0).depth, 0);
  push(main, "a");
  EXPECT_LT(tracker.pop(main, tracker.domain("x")).depth, 0) << "nothing of that domain is open";
  EXPECT_EQ(layer(main), "a");
}

TEST_F(RangeTrackerTest, EveryDomainHasAStackOfItsOwn) {
  const auto x = tracker.domain("x");
  push(main, "a");
  push(main, "b", x);
  EXPECT_EQ(push(main, "c"), 1);
  EXPECT_EQ(layer(main), "a/x:b/c");
  tracker.pop(main, x);
  EXPECT_EQ(layer(main), "a/c") << "what was inside moves up";
  tracker.pop(main, 0);
  EXPECT_EQ(layer(main), "a");
}

TEST_F(RangeTrackerTest, OwnDomainStandsAloneAndCarriesTheDirection) {
  push(main, "ResNet", RangeTracker::kOwnDomain, Direction::backward);
  push(main, "conv1", RangeTracker::kOwnDomain);
  const auto id = tracker.layer_of_launch(main, inherited);
  EXPECT_EQ(layers.shown(id), "ResNet/conv1");
  EXPECT_EQ(layers.node(id).direction, Direction::backward);
}

TEST_F(RangeTrackerTest, AThreadWithoutRangesTakesTheMainThreadsLayer) {
  push(main, "loss.backward");
  EXPECT_EQ(layer(other), "loss.backward");
  EXPECT_TRUE(inherited) << "must be told apart from a layer of its own";
  push(other, "own");
  EXPECT_EQ(layer(other), "own");
  EXPECT_FALSE(inherited);
}

TEST_F(RangeTrackerTest, ProcessRangesHoldForEveryThread) {
  push(main, "a");
  const auto id = tracker.start(0, "whole", Direction::none);
  EXPECT_EQ(layer(main), "whole/a");
  EXPECT_EQ(layer(other), "whole");
  EXPECT_FALSE(inherited);
  push(main, "b");
  EXPECT_EQ(layer(main), "whole/a/b");
  tracker.end(id);
  EXPECT_EQ(layer(main), "a/b");
  tracker.pop(main, 0);
  EXPECT_EQ(layer(main), "a");
  tracker.end(id);  // twice: nothing happens
  tracker.end(12345);
  EXPECT_EQ(layer(main), "a");
}

TEST_F(RangeTrackerTest, OverlappingProcessRangesMayEndInAnyOrder) {
  const auto a = tracker.start(0, "a", Direction::none);
  const auto b = tracker.start(0, "b", Direction::none);
  EXPECT_EQ(layer(other), "a/b");
  tracker.end(a);
  EXPECT_EQ(layer(other), "b");
  tracker.end(b);
  EXPECT_EQ(layer(other), layers.shown(0));
}

TEST_F(RangeTrackerTest, TenThousandDeepComesBackToTheTop) {
  for (int i = 0; i < 10000; ++i) EXPECT_EQ(push(main, "level"), i);
  EXPECT_LE(layers.node(tracker.layer_of_launch(main, inherited)).depth, LayerTree::kMaxDepth);
  EXPECT_GT(layers.folded(), 0u) << "what has no layer of its own is counted";
  const auto id = tracker.start(0, "whole", Direction::none);
  EXPECT_EQ(layers.path(tracker.layer_of_launch(main, inherited)).front(), "whole");
  tracker.end(id);
  for (int i = 9999; i >= 0; --i) EXPECT_EQ(tracker.pop(main, 0).depth, i);
  EXPECT_EQ(layer(main), layers.shown(0));
}

TEST_F(RangeTrackerTest, NumberedNamesShareALayer) {
  push(main, "aten::mm, seq = 1, op_id = 7");
  const auto first = tracker.layer_of_launch(main, inherited);
  tracker.pop(main, 0);
  push(main, "aten::mm, seq = 2, op_id = 9");
  EXPECT_EQ(tracker.layer_of_launch(main, inherited), first);
  EXPECT_EQ(layer(main), "aten::mm");
}

struct Steps : RangeListener {
  int begun = 0, ended = 0, communicators = 0;
  Communicator last = Communicator::none;
  void communicator_made(Communicator which) override {
    ++communicators;
    last = which;
  }
  void step_range_begin() override { ++begun; }
  void step_range_end() override { ++ended; }
  void range_begins(std::uint32_t, LayerId, const void*) override {}
  void range_ends(std::uint32_t, const void*) override {}
};

TEST_F(RangeTrackerTest, TellsOfSteps) {
  Steps steps;
  tracker.set_listener(&steps);
  for (int i = 0; i < 3; ++i) {
    push(main, "step " + std::to_string(i));
    push(main, "inner");
    EXPECT_EQ(steps.begun, i + 1);
    EXPECT_EQ(steps.ended, i);
    EXPECT_EQ(layer(main), "step #/inner");
    tracker.pop(main, 0);
    tracker.pop(main, 0);
  }
  EXPECT_EQ(steps.ended, 3);
}

TEST_F(RangeTrackerTest, TellsOfStepsOfTheWholeProcess) {
  Steps steps;
  tracker.set_listener(&steps);
  const auto plain = tracker.start(0, "epoch", Direction::none);
  const auto step = tracker.start(0, "step 1", Direction::none);
  EXPECT_EQ(steps.begun, 1);
  EXPECT_EQ(steps.ended, 0);
  tracker.end(plain);
  EXPECT_EQ(steps.ended, 0);
  tracker.end(step);
  EXPECT_EQ(steps.ended, 1);
  tracker.end(step);
  EXPECT_EQ(steps.ended, 1);
}

struct Looked : Steps {
  std::string told;
  void range_begins(std::uint32_t level, LayerId, const void* thread) override {
    told += "+" + std::to_string(level) + (thread != nullptr ? "t " : "p ");
  }
  void range_ends(std::uint32_t level, const void* thread) override {
    told += "-" + std::to_string(level) + (thread != nullptr ? "t " : "p ");
  }
};

TEST_F(RangeTrackerTest, TellsOfTheOutermostRangesThatAreLookedAt) {
  Looked looked;
  tracker.set_listener(&looked);
  push(main, "unseen");
  tracker.pop(main, 0);
  EXPECT_EQ(looked.told, "");
  tracker.look_at(2);
  push(main, "a");
  push(main, "b");
  push(main, "c");
  EXPECT_EQ(looked.told, "+0t +1t ");
  tracker.pop(main, 0);
  tracker.pop(main, 0);
  tracker.pop(main, 0);
  EXPECT_EQ(looked.told, "+0t +1t -1t -0t ");
}

TEST_F(RangeTrackerTest, RangesOfTheProcessAreAroundThoseOfAThread) {
  Looked looked;
  tracker.set_listener(&looked);
  tracker.look_at(2);
  const auto a = tracker.start(0, "a", Direction::none);
  push(main, "b");
  push(main, "c");
  EXPECT_EQ(looked.told, "+0p +1t ");
  const auto d = tracker.start(0, "d", Direction::none);
  const auto e = tracker.start(0, "e", Direction::none);
  EXPECT_EQ(looked.told, "+0p +1t +1p ");
  tracker.end(e);
  tracker.end(d);
  tracker.pop(main, 0);
  tracker.pop(main, 0);
  tracker.end(a);
  EXPECT_EQ(looked.told, "+0p +1t +1p -1p -1t -0p ");
}

TEST_F(RangeTrackerTest, RangesOfGablesOwnDomainAreNotLookedAt) {
  Looked looked;
  tracker.set_listener(&looked);
  tracker.look_at(2);
  push(main, "net", RangeTracker::kOwnDomain);
  tracker.pop(main, RangeTracker::kOwnDomain);
  tracker.end(tracker.start(RangeTracker::kOwnDomain, "net", Direction::none));
  EXPECT_EQ(looked.told, "");
}

TEST_F(RangeTrackerTest, DomainsAreKnownByNameAndPassedToAForkedChild) {
  const auto x = tracker.domain("x"), y = tracker.domain("y");
  EXPECT_EQ(x, 2u);
  EXPECT_EQ(y, 3u);
  EXPECT_EQ(tracker.domain("x"), x);
  EXPECT_EQ(tracker.domain("gable"), RangeTracker::kOwnDomain);
  EXPECT_EQ(tracker.domain_name(x), "x");
  EXPECT_EQ(tracker.domain_name(4), "");
  EXPECT_EQ(tracker.domains_after_fork(), (std::vector<std::string>{"", "gable", "x", "y"}));
  RangeTracker child(layers, RangeNaming({}, ""), tracker.domains_after_fork());
  EXPECT_EQ(child.domain_name(y), "y");
  RangeTracker damaged(layers, RangeNaming({}, ""), {"alone"});
  EXPECT_EQ(damaged.domain("gable"), RangeTracker::kOwnDomain);
}

TEST_F(RangeTrackerTest, DomainsBeyondAThousandAreTheDefaultOne) {
  for (int i = 2; i < 1023; ++i) tracker.domain(std::to_string(i));
  EXPECT_EQ(tracker.domain("last"), 1023u);
  EXPECT_EQ(tracker.domain("more"), 0u);
  EXPECT_EQ(tracker.domain("last"), 1023u);
}

TEST_F(RangeTrackerTest, LeakedProcessRangesDoNotGrowWithoutBound) {
  Steps steps;
  tracker.set_listener(&steps);
  std::vector<std::uint64_t> ids;
  ids.reserve(257);
  for (int i = 0; i < 257; ++i) ids.push_back(tracker.start(0, "step", Direction::none));
  EXPECT_EQ(steps.begun, 256);
  tracker.end(ids[256]);
  EXPECT_EQ(steps.ended, 0);
  tracker.end(ids[255]);
  EXPECT_EQ(steps.ended, 1);
}

TEST_F(RangeTrackerTest, AfterAnUnseenTimeNothingIsOpen) {
  push(main, "a");
  tracker.start(0, "whole", Direction::none);
  EXPECT_EQ(layer(other), "whole");
  tracker.forget_open();
  EXPECT_EQ(layer(other), layers.shown(0));
  EXPECT_FALSE(inherited) << "the main thread's is forgotten too";
  EXPECT_EQ(layer(main), layers.shown(0));
  EXPECT_EQ(tracker.pop(main, 0).depth, -1);
  EXPECT_EQ(push(main, "b"), 0);
}

TEST_F(RangeTrackerTest, APopTellsWhatWasPushed) {
  const auto x = tracker.domain("x");
  tracker.push(main, 0, "step 1", Direction::none, 5, 70);
  tracker.push(main, x, "in", Direction::none, 6, 80);
  const auto in = tracker.pop(main, x);
  EXPECT_EQ(in.depth, 0);
  EXPECT_EQ(in.range.window, 6u);
  EXPECT_EQ(in.range.start_ticks, 80u);
  EXPECT_FALSE(in.range.is_step);
  EXPECT_EQ(layers.shown(in.range.layer), "step #/x:in");
  const auto step = tracker.pop(main, 0);
  EXPECT_TRUE(step.range.is_step);
  EXPECT_EQ(step.range.window, 5u);
}

TEST_F(RangeTrackerTest, ManyNamesKeepTheirLayers) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 6000; ++i) {
      push(main, "n" + std::to_string(i));
      ASSERT_EQ(layer(main), "n" + std::to_string(i));
      tracker.pop(main, 0);
    }
  }
  EXPECT_EQ(main.known.size(), ThreadRanges::kMostKnown);
}

TEST_F(RangeTrackerTest, TellsOfCommunicators) {
  Steps told, later;
  tracker.set_listener(&told);
  const auto nccl = tracker.domain("NCCL"), another = tracker.domain("another");
  push(main, "ncclAllReduce", nccl);
  push(main, "ncclCommInitRank", another);
  push(main, "ncclCommInitRank");
  EXPECT_EQ(told.communicators, 0);
  push(other, "ncclCommInitRankConfig", nccl);
  EXPECT_EQ(told.communicators, 1);
  EXPECT_EQ(told.last, Communicator::processes);
  push(other, "ncclCommInitAll", nccl);
  EXPECT_EQ(told.last, Communicator::own_gpus);
  tracker.set_listener(&later);  // NCCL came before CUDA's driver loaded us
  EXPECT_EQ(later.communicators, 1);
}

}  // namespace
}  // namespace gable

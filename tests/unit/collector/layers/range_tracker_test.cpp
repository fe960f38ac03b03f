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

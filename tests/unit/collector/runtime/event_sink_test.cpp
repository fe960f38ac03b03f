// SPDX-License-Identifier: Apache-2.0
// No event is lost or counted twice on its way from a thread to the profile.
#include "collector/runtime/event_sink.h"

#include <gtest/gtest.h>

#include "collector/layers/launch_hash.h"

namespace gable {
namespace {

class EventSinkTest : public testing::Test {
 protected:
  LayerTree layers;
  FunctionTable functions;
  EventSink sink{layers, functions, {}};

  static Event launch(std::uint32_t step, FunctionId function = 1) {
    Event event;
    event.step = step;
    event.launch.key.function = function;
    return event;
  }
  void emit(const Event& event) { sink.emit(this_thread(), event); }
};

TEST_F(EventSinkTest, AStepIsTheSumOfItsLaunchesInAnyOrder) {
  emit(launch(1, 1));
  emit(launch(1, 2));
  emit(launch(2, 2));
  emit(launch(2, 1));
  emit(launch(3, 2));
  const auto first = sink.summary(1), second = sink.summary(2), third = sink.summary(3);
  EXPECT_EQ(first.launches, 2u);
  EXPECT_EQ(first.hash, second.hash);
  EXPECT_EQ(first.hash, hash_key(launch(1, 1).launch.key) + hash_key(launch(1, 2).launch.key));
  EXPECT_EQ(third.launches, 1u);
  EXPECT_EQ(third.hash, hash_key(launch(1, 2).launch.key));
}

TEST_F(EventSinkTest, GraphsAreLaunchesOfTheirStepAndCopiesAreNot) {
  Event graph;
  graph.kind = Event::Kind::graph;
  graph.step = 1;
  graph.graph = GraphLaunch();
  Event copy;
  copy.kind = Event::Kind::copy;
  copy.step = 1;
  copy.copy = CopyCall();
  emit(graph);
  emit(copy);
  EXPECT_EQ(sink.summary(1).launches, 1u);
  EXPECT_EQ(sink.summary(1).hash, hash_key(graph.graph.key));
  EXPECT_EQ(sink.progress().events, 2u);
}

TEST_F(EventSinkTest, ThreeStepsBeforeAreStillKnown) {
  for (std::uint32_t step = 4; step < 8; ++step) emit(launch(step));
  EXPECT_EQ(sink.summary(4).launches, 1u);
  emit(launch(4));
  EXPECT_EQ(sink.summary(4).launches, 2u);
  emit(launch(8));
  EXPECT_EQ(sink.summary(8).launches, 1u) << "it begins anew in the place of the fourth";
  EXPECT_EQ(sink.summary(4).launches, 0u);
  EXPECT_EQ(sink.summary(4).hash, 0u);
}

TEST_F(EventSinkTest, AFullRingLosesNothing) {
  for (int i = 0; i < 5000; ++i) emit(launch(1));
  EXPECT_EQ(sink.summary(1).launches, 5000u);
  EXPECT_EQ(sink.progress().events, 5000u);
}

TEST_F(EventSinkTest, WindowsThatMeasureAndAreKeptAreProgress) {
  WindowEnd end;
  end.keep = true;
  end.phase = {PhaseKind::time, 0};
  sink.end_window(end);
  EXPECT_EQ(sink.progress().windows, 1u);
  end.keep = false;
  sink.end_window(end);
  end.keep = true;
  end.phase = {PhaseKind::wait, 0};
  sink.end_window(end);
  EXPECT_EQ(sink.progress().windows, 1u);
  end.phase = {PhaseKind::hw, 1};
  sink.end_window(end);
  EXPECT_EQ(sink.progress().windows, 2u);
}

TEST_F(EventSinkTest, OwnCostIsTakenOnce) {
  (void)sink.take_overhead_ns();
  this_thread().overhead_ns.store(700);
  EXPECT_EQ(sink.take_overhead_ns(), 700u);
  EXPECT_EQ(sink.take_overhead_ns(), 0u);
}

TEST(EventRing, HoldsTwoThousandAndFortyEightInOrder) {
  EventRing ring;
  Event event;
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < 2048; ++i) {
      event.step = i;
      ASSERT_TRUE(ring.push(event)) << i;
    }
    EXPECT_FALSE(ring.push(event));
    std::uint32_t next = 0;
    ring.drain([&](const Event& each) { EXPECT_EQ(each.step, next++); });
    EXPECT_EQ(next, 2048u);
  }
}

}  // namespace
}  // namespace gable

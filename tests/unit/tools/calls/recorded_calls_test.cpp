// SPDX-License-Identifier: Apache-2.0
// Calls and GPU work of another tool's file as recorded steps: rule by rule, in small traces.
#include "tools/calls/recorded_calls.h"

#include <gtest/gtest.h>

#include "analysis/step_graph/graph_builder.h"

namespace gable {
namespace {

using Kind = RecordedCallKind;

class RecordedCalls : public testing::Test {
 protected:
  // Times are us.
  TracedCall& call(CallName what, std::uint64_t start, std::uint64_t duration,
                   std::uint64_t correlation, std::uint32_t thread = 1) {
    TracedCall& made = steps.calls.emplace_back();
    made.what = what;
    made.start_ns = start * 1000;
    made.duration_ns = duration * 1000;
    made.correlation = correlation;
    made.thread = thread;
    return made;
  }
  TracedOperation& work(std::uint64_t start, std::uint64_t end, std::uint64_t correlation,
                        std::uint64_t stream = 7) {
    TracedOperation& made = steps.operations.emplace_back();
    made.start_ns = start * 1000;
    made.end_ns = end * 1000;
    made.correlation = correlation;
    made.stream = stream;
    made.context = 1;
    return made;
  }
  // A launch and its kernel.
  void launch(std::uint64_t start, std::uint64_t correlation, std::uint64_t runs_from,
              std::uint64_t runs_to, std::uint64_t stream = 7, std::uint32_t thread = 1) {
    call(CallName::launch, start, 5, correlation, thread);
    work(runs_from, runs_to, correlation, stream);
  }
  TracedWait& says(std::uint64_t correlation, std::uint64_t stream) {
    steps.tells_waits = true;
    TracedWait& made = steps.waits.emplace_back();
    made.correlation = correlation;
    made.stream = stream;
    made.context = made.record_context = 1;
    return made;
  }
  StepRecord made() {
    if (steps.starts.empty()) steps.starts = {0, 10'000'000};
    return make_step_record(steps);
  }
  static std::vector<Kind> kinds(const StepRecord& record) {
    std::vector<Kind> kinds;
    for (const RecordedCall& call : record.steps.calls) kinds.push_back(call.kind);
    return kinds;
  }
  TracedSteps steps;
};

TEST_F(RecordedCalls, ALaunchHasTheStreamOfItsWork) {
  launch(10, 3, 20, 30, 9);
  const StepRecord record = made();
  ASSERT_EQ(record.steps.calls.size(), 1u);
  const RecordedCall& call = record.steps.calls[0];
  EXPECT_EQ(call.kind, Kind::launch);
  EXPECT_EQ(call.stream, 9u);
  EXPECT_EQ(call.context, 1u);
  EXPECT_EQ(call.correlation, record.steps.operations[0].correlation);
  EXPECT_EQ(call.enter_ns, 10'000u);
  EXPECT_EQ(call.exit_ns, 15'000u);
  EXPECT_TRUE(record.stream_waits_known);
}

TEST_F(RecordedCalls, WhatHasWorkIsALaunchWhateverItsName) {
  call(CallName::other, 10, 5, 3);
  work(20, 30, 3);
  call(CallName::launch, 20, 5, 4);  // its record is lost, or it was captured
  EXPECT_EQ(kinds(made()), (std::vector{Kind::launch, Kind::other}));
}

TEST_F(RecordedCalls, ACallWithinACallIsOne) {
  launch(10, 3, 20, 30);
  call(CallName::launch, 11, 2, 3);  // the driver's, with the same number
  const StepRecord record = made();
  ASSERT_EQ(kinds(record), (std::vector{Kind::launch}));
  EXPECT_EQ(record.steps.calls[0].exit_ns, 15'000u);
}

TEST_F(RecordedCalls, TheInnerCallStaysWhereItAloneHasWork) {
  call(CallName::other, 10, 9, 2);
  launch(11, 3, 20, 30);
  const StepRecord record = made();
  ASSERT_EQ(kinds(record), (std::vector{Kind::launch}));
  EXPECT_EQ(record.steps.calls[0].enter_ns, 11'000u);
}

TEST_F(RecordedCalls, ACallOfAnotherThreadOrOneThatBeginsAtTheEndIsNotWithin) {
  launch(10, 3, 20, 30);
  call(CallName::other, 11, 2, 4, 2);
  call(CallName::other, 15, 0, 5);
  EXPECT_EQ(made().steps.calls.size(), 3u);
}

TEST_F(RecordedCalls, ACallThatEndsLaterIsNotWithin) {
  call(CallName::other, 10, 5, 3);
  call(CallName::other, 14, 5, 4);
  EXPECT_EQ(made().steps.calls.size(), 2u);
}

TEST_F(RecordedCalls, OfTwoCallsOfOneNumberTheFirstLaunched) {
  launch(10, 3, 20, 30);
  call(CallName::launch, 40, 5, 3);
  const StepRecord record = made();
  EXPECT_EQ(kinds(record), (std::vector{Kind::launch, Kind::other}));
  EXPECT_EQ(record.steps.operations.size(), 1u);
}

TEST_F(RecordedCalls, AStreamOfAnotherContextIsFoundWhereItIsTheOnlyOne) {
  launch(10, 1, 20, 30, 7);
  launch(16, 2, 30, 60, 9);
  call(CallName::stream_synchronize, 25, 40, 3);
  says(3, 9).context = 0;
  EXPECT_EQ(made().steps.calls[2].context, 1u);
  steps.operations[0].context = 2;
  steps.operations[0].stream = 9;
  EXPECT_EQ(made().steps.calls[2].context, 0u) << "there are two";
}

TEST_F(RecordedCalls, BordersAreTheFirstCallsOfTheSteps) {
  launch(10, 1, 20, 30);
  launch(110, 2, 120, 130);
  call(CallName::other, 150, 1, 0);
  launch(210, 3, 220, 230);
  steps.starts = {0, 100'000, 200'000, 300'000};
  EXPECT_EQ(made().steps.borders, (std::vector<std::uint32_t>{0, 1, 3, 4}));
}

TEST_F(RecordedCalls, OfOneStreamASynchronisationNeedsNoRecord) {
  launch(10, 1, 20, 90);
  call(CallName::stream_synchronize, 20, 75, 2);
  call(CallName::context_synchronize, 100, 5, 3);
  call(CallName::free_memory, 110, 5, 4);
  const StepRecord record = made();
  EXPECT_EQ(kinds(record), (std::vector{Kind::launch, Kind::stream_synchronize,
                                        Kind::context_synchronize, Kind::free_memory}));
  EXPECT_EQ(record.steps.calls[1].stream, 7u);
  EXPECT_EQ(record.steps.calls[1].context, 1u);
  EXPECT_EQ(record.steps.calls[2].context, 1u);
  EXPECT_TRUE(record.stream_waits_known);
}

TEST_F(RecordedCalls, OfSeveralStreamsARecordSaysWhichOneIsWaitedFor) {
  launch(10, 1, 20, 30, 7);
  launch(16, 2, 30, 60, 9);
  call(CallName::stream_synchronize, 25, 10, 3);
  says(3, 7);
  const StepRecord record = made();
  EXPECT_EQ(record.steps.calls[2].kind, Kind::stream_synchronize);
  EXPECT_EQ(record.steps.calls[2].stream, 7u);
  EXPECT_TRUE(record.stream_waits_known);
}

TEST_F(RecordedCalls, OfSeveralStreamsWithoutARecordItIsTheCopysJustBefore) {
  launch(10, 1, 20, 30, 7);
  call(CallName::copy, 20, 5, 2).asynchronous = true;
  TracedOperation& copy = work(30, 32, 2, 9);
  copy.kind = OperationKind::copy;
  copy.way = CopyWay::device_to_host;
  call(CallName::stream_synchronize, 26, 9, 3);
  call(CallName::stream_synchronize, 40, 9, 4);
  const StepRecord record = made();
  EXPECT_EQ(record.steps.calls[2].kind, Kind::stream_synchronize);
  EXPECT_EQ(record.steps.calls[2].stream, 9u);
  EXPECT_EQ(record.steps.calls[3].kind, Kind::other) << "nobody says of which";
  EXPECT_FALSE(record.stream_waits_known);
}

TEST_F(RecordedCalls, ACopyThatEndsAfterTheCallWasNotWaitedFor) {
  launch(10, 1, 20, 30, 7);
  call(CallName::copy, 20, 5, 2).asynchronous = true;
  work(30, 52, 2, 9).kind = OperationKind::copy;
  call(CallName::stream_synchronize, 26, 9, 3);
  EXPECT_EQ(made().steps.calls[2].kind, Kind::other);
}

TEST_F(RecordedCalls, AStreamWaitNamesItsRecord) {
  launch(10, 1, 20, 60, 7);
  call(CallName::event_record, 16, 2, 2);
  call(CallName::stream_wait, 20, 2, 3);
  launch(25, 4, 61, 70, 9);
  TracedWait& wait = says(3, 9);
  wait.record = 2;
  wait.record_stream = 7;
  const StepRecord record = made();
  ASSERT_EQ(kinds(record),
            (std::vector{Kind::launch, Kind::event_record, Kind::stream_wait, Kind::launch}));
  EXPECT_EQ(record.steps.calls[1].stream, 7u);
  EXPECT_EQ(record.steps.calls[2].stream, 9u);
  EXPECT_EQ(record.steps.calls[1].event, record.steps.calls[2].event);
  EXPECT_TRUE(record.stream_waits_known);
  const StepGraph graph = build_step_graph(record.steps);
  EXPECT_EQ(graph.nodes.back().residual_ns, 0u) << "the wait explains when it began";
}

TEST_F(RecordedCalls, AnEventThatIsRecordedAgainIsAnotherOne) {
  launch(10, 1, 20, 60, 7);
  call(CallName::event_record, 16, 2, 2);
  call(CallName::stream_wait, 20, 2, 3);
  call(CallName::event_record, 30, 2, 4);
  call(CallName::stream_wait, 35, 2, 5);
  launch(40, 6, 70, 80, 9);
  for (const std::uint64_t each : {3u, 5u}) {
    TracedWait& wait = says(each, 9);
    wait.record = each - 1;
    wait.record_stream = 7;
  }
  const auto& calls = made().steps.calls;
  EXPECT_EQ(calls[1].event, calls[2].event);
  EXPECT_EQ(calls[3].event, calls[4].event);
  EXPECT_NE(calls[1].event, calls[3].event);
}

TEST_F(RecordedCalls, AWaitThatNamesNoRecordIsNotKnown) {
  launch(10, 1, 20, 60, 7);
  call(CallName::stream_wait, 20, 2, 3);
  launch(25, 4, 61, 70, 9);
  says(3, 9);
  const StepRecord record = made();
  EXPECT_EQ(record.steps.calls[1].kind, Kind::other);
  EXPECT_FALSE(record.stream_waits_known);
}

TEST_F(RecordedCalls, WithoutRecordsSeveralStreamsLeaveWaitsUnknown) {
  launch(10, 1, 20, 30, 7);
  launch(16, 2, 30, 60, 9);
  EXPECT_FALSE(made().stream_waits_known);
  steps.tells_waits = true;
  EXPECT_TRUE(made().stream_waits_known);
}

TEST_F(RecordedCalls, AnEventThatTheHostWaitsForIsKnownByItsRecord) {
  launch(10, 1, 20, 60, 7);
  call(CallName::event_record, 16, 2, 2);
  call(CallName::event_synchronize, 20, 42, 3);
  EXPECT_EQ(made().steps.calls[2].kind, Kind::other);
  EXPECT_FALSE(made().stream_waits_known);
  TracedWait& wait = says(3, TracedWait::kUnknown);
  wait.record = 2;
  const StepRecord record = made();
  EXPECT_EQ(record.steps.calls[2].kind, Kind::event_synchronize);
  EXPECT_EQ(record.steps.calls[2].event, record.steps.calls[1].event);
  EXPECT_TRUE(record.stream_waits_known);
}

TEST_F(RecordedCalls, CallsOfACaptureAreNoWork) {
  launch(5, 9, 20, 30);
  call(CallName::begin_capture, 10, 1, 1);
  call(CallName::event_record, 12, 1, 2);
  call(CallName::launch, 14, 1, 3);
  call(CallName::free_memory, 16, 1, 4, 2);  // another thread's
  call(CallName::end_capture, 18, 1, 5);
  call(CallName::event_record, 20, 1, 6);
  EXPECT_EQ(kinds(made()), (std::vector{Kind::launch, Kind::other, Kind::other, Kind::other,
                                        Kind::free_memory, Kind::other, Kind::event_record}));
}

TEST_F(RecordedCalls, AGraphsNodesFollowEachOtherByStream) {
  for (const std::uint64_t launch : {1u, 2u}) {
    call(CallName::graph_launch, launch * 100, 5, launch);
    for (const std::uint64_t node : {31u, 32u, 33u})
      work(launch * 100 + node, launch * 100 + node + 1, launch).graph_node = node;
  }
  const StepRecord record = made();
  EXPECT_EQ(kinds(record), (std::vector{Kind::graph_launch, Kind::graph_launch}));
  ASSERT_EQ(record.steps.graphs.size(), 1u);
  EXPECT_EQ(record.steps.graphs[0].nodes, (std::vector<std::uint64_t>{31, 32, 33}));
  ASSERT_EQ(record.steps.graphs[0].edges.size(), 2u);
  EXPECT_EQ(record.steps.graphs[0].edges[1].from, 1u);
  EXPECT_EQ(record.steps.calls[0].exec, record.steps.calls[1].exec);
  const StepGraph graph = build_step_graph(record.steps);
  EXPECT_EQ(graph.refused, RefusedInput{});
  EXPECT_TRUE(record.stream_waits_known);
}

TEST_F(RecordedCalls, AGraphOnSeveralStreamsHasEdgesThatNobodyTells) {
  call(CallName::graph_launch, 100, 5, 1);
  work(120, 130, 1, 7);
  work(120, 130, 1, 8);
  steps.tells_waits = true;
  const StepRecord record = made();
  EXPECT_FALSE(record.stream_waits_known);
  EXPECT_EQ(build_step_graph(record.steps).refused, RefusedInput{}) << "nodes without numbers";
}

TEST_F(RecordedCalls, TheGpusClockMovesUntilNothingStartsBeforeItsLaunch) {
  launch(10, 1, 12, 20);
  launch(30, 2, 22, 29);
  launch(50, 3, 47, 60);
  call(CallName::stream_synchronize, 56, 20, 4);
  const StepRecord record = made();
  EXPECT_EQ(record.steps.operations[1].start_ns, 30'000u);
  EXPECT_EQ(record.steps.operations[0].start_ns, 20'000u);
  EXPECT_EQ(record.steps.operations[2].end_ns, 68'000u);
}

TEST_F(RecordedCalls, TheGpusClockMovesUntilNothingEndsAfterItWasWaitedFor) {
  launch(10, 1, 22, 41);
  call(CallName::stream_synchronize, 16, 20, 2);
  EXPECT_EQ(made().steps.operations[0].end_ns, 36'000u);
}

TEST_F(RecordedCalls, WhereNoShiftKeepsBothItIsTheMiddleAndTheRestIsJitter) {
  launch(10, 1, 2, 20);  // at least 8
  call(CallName::stream_synchronize, 16, 4, 2);
  const StepRecord record = made();
  EXPECT_EQ(record.steps.operations[0].start_ns, 6'000u);
  EXPECT_EQ(record.jitter_ns, 4000u);
}

TEST_F(RecordedCalls, WholeMicrosecondsAreRounded) {
  launch(10, 1, 20, 30);
  EXPECT_EQ(made().jitter_ns, 2000u);
  steps.operations[0].end_ns += 1;
  EXPECT_EQ(made().jitter_ns, 0u);
}

TEST_F(RecordedCalls, ARecordThatIsFarOffMovesNoClock) {
  launch(1000, 1, 500, 510);
  launch(1010, 2, 1012, 1020);
  const StepRecord record = made();
  EXPECT_EQ(record.steps.operations[1].start_ns, 1'012'000u);
}

TEST_F(RecordedCalls, EachGpuHasAClockOfItsOwn) {
  launch(10, 1, 5, 8);
  launch(30, 2, 40, 50, 9);
  steps.operations[1].device = 1;
  const StepRecord record = made();
  EXPECT_EQ(record.steps.operations[0].start_ns, 10'000u);
  EXPECT_EQ(record.steps.operations[1].start_ns, 40'000u);
}

TEST_F(RecordedCalls, StreamsAreWhatTheFileSaysElseNonBlocking) {
  launch(10, 1, 20, 30, 7);
  launch(16, 2, 31, 60, 9);
  steps.streams = {{7, 1, true, false}};
  const auto streams = made().steps.streams;
  ASSERT_EQ(streams.size(), 2u);
  EXPECT_TRUE(streams[0].legacy);
  EXPECT_TRUE(streams[1].non_blocking);
}

TEST_F(RecordedCalls, AStreamThatRanBesideTheLegacyStreamDoesNotBlock) {
  launch(10, 1, 20, 40, 7);
  launch(16, 2, 30, 60, 9);
  launch(22, 3, 70, 80, 11);
  steps.streams = {{7, 1, true, false}};
  steps.others_block = true;
  const auto streams = made().steps.streams;
  ASSERT_EQ(streams.size(), 3u);
  EXPECT_TRUE(streams[1].non_blocking);
  EXPECT_FALSE(streams[2].non_blocking);
}

TEST_F(RecordedCalls, ThreadsThatTakeLongTurnsHandOver) {
  std::uint64_t number = 0;
  for (std::uint64_t i = 0; i < 90; ++i) {
    ++number;
    launch(i * 10, number, i * 10 + 6, i * 10 + 9, 7, i < 30 || i >= 60 ? 1 : 2);
  }
  const auto handoffs = made().steps.handoffs;
  ASSERT_EQ(handoffs.size(), 2u);
  EXPECT_EQ(handoffs[0].from, 29u);
  EXPECT_EQ(handoffs[0].to, 30u);
  EXPECT_EQ(handoffs[1].from, 59u);
  EXPECT_EQ(handoffs[1].to, 60u);
}

TEST_F(RecordedCalls, ThreadsThatLaunchSideBySideDoNot) {
  for (std::uint64_t i = 0; i < 90; ++i)
    launch(i * 10, i + 1, i * 10 + 6, i * 10 + 9, 7, 1 + i % 2);
  EXPECT_TRUE(made().steps.handoffs.empty());
}

TEST_F(RecordedCalls, ASwitchWithinACallIsNoHandoff) {
  for (std::uint64_t i = 0; i < 60; ++i)
    launch(i * 10, i + 1, i * 10 + 6, i * 10 + 9, 7, i < 30 ? 1 : 2);
  steps.calls[29].duration_ns = 20'000;
  EXPECT_TRUE(made().steps.handoffs.empty());
}

TEST_F(RecordedCalls, AFullQueueIsOfItsCall) {
  launch(10, 70, 20, 30);
  launch(16, 71, 30, 40);
  steps.full = {{17'000, 19'000, 71}, {50'000, 60'000, 99}};
  const auto full = made().steps.queue_full;
  ASSERT_EQ(full.size(), 1u);
  EXPECT_EQ(full[0].correlation, made().steps.calls[1].correlation);
}

TEST_F(RecordedCalls, OrderOfTheInputDoesNotMatter) {
  launch(10, 1, 20, 60, 7);
  call(CallName::event_record, 16, 2, 2);
  call(CallName::stream_wait, 20, 2, 3);
  launch(25, 4, 61, 70, 9);
  TracedWait& wait = says(3, 9);
  wait.record = 2;
  wait.record_stream = 7;
  says(2, 7);
  const auto forward = kinds(made());
  std::reverse(steps.calls.begin(), steps.calls.end());
  std::reverse(steps.operations.begin(), steps.operations.end());
  std::reverse(steps.waits.begin(), steps.waits.end());
  EXPECT_EQ(kinds(made()), forward);
}

TEST(RecordPlaces, NeedThreeSteps) {
  EXPECT_TRUE(record_places({}).empty());
  EXPECT_TRUE(record_places({1, 1}).empty());
  EXPECT_EQ(record_places({1, 1, 1}), (std::vector<std::size_t>{0}));
}

TEST(RecordPlaces, AreOfStepsThatLaunchSomething) {
  EXPECT_TRUE(record_places({0, 0, 0}).empty());
  EXPECT_TRUE(record_places({0, 0, 0, 0}).empty());
  EXPECT_EQ(record_places({1, 1, 0, 1, 2, 3}), (std::vector<std::size_t>{3}));
}

TEST(RecordPlaces, LeaveTheFirstStepOut) {
  EXPECT_EQ(record_places({1, 1, 1, 1}), (std::vector<std::size_t>{1}));
  EXPECT_EQ(record_places({1, 1, 1, 1, 1, 1}), (std::vector<std::size_t>{1, 2, 3}));
}

TEST(RecordPlaces, AreNearTheBeginningInTheMiddleAndAtTheEnd) {
  EXPECT_EQ(record_places(std::vector<std::uint64_t>(23, 1)),
            (std::vector<std::size_t>{1, 10, 20}));
}

TEST(RecordPlaces, AreOfNeighboursThatAreAlikeWhereThereAreAny) {
  EXPECT_EQ(record_places({9, 1, 2, 3, 3, 3, 4}), (std::vector<std::size_t>{3}));
  EXPECT_EQ(record_places({1, 1, 1, 2, 3}), (std::vector<std::size_t>{0}));
  EXPECT_EQ(record_places({1, 2, 3, 4}), (std::vector<std::size_t>{1}));
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What would go wrong for a user: calls and times of a step that are joined wrongly, so that the
// report says that the step waits for something that it does not wait for.
#include "analysis/profile/step_recorder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/profile/profile.h"
#include "analysis/profile/profile_state.h"
#include "analysis/step_graph/critical_path.h"
#include "analysis/step_graph/graph_builder.h"
#include "analysis/step_graph/step_replay.h"

namespace gable {
namespace {

using Kind = RecordedCallKind;
constexpr std::uint64_t kLegacy = 1, kSide = 0x5000, kCall = 2000;

// A program of one thread, whose calls take 2 us each, and its GPU: what the collector tells of it.
class RecordedRow : public ::testing::Test {
 protected:
  static constexpr Phase kTime{PhaseKind::time, 0};

  void begin(WindowId id, bool records = true) {
    window_ = id;
    profile.begin_window(id, kTime);
    EXPECT_EQ(profile.records_calls(id, true), records);
  }
  WindowEnd end_of(WindowId id) const {
    WindowEnd end;
    end.window = id;
    end.phase = kTime;
    end.start_ns = 1;
    end.end_ns = now_;
    end.step = id;
    end.sequence_hash = 7;
    end.launches = 1;
    end.changed = id == first_;
    return end;
  }
  void end() { profile.end_window(end_of(window_)); }

  StepCall made(Kind kind, std::uint64_t stream, std::uint64_t object = 0) {
    StepCall call;
    call.enter_ns = now_;
    call.exit_ns = now_ += kCall;
    call.stream = stream;
    call.object = object;
    call.window = window_;
    call.thread = thread_;
    call.context = 4;
    call.correlation = ++correlation_;
    call.kind = kind;
    call.legacy = stream == kLegacy;
    return call;
  }
  void call(Kind kind, std::uint64_t stream, std::uint64_t object = 0) {
    auto call = made(kind, stream, object);
    if (kind == Kind::stream_synchronize) call.exit_ns = now_ = std::max(now_, streams_[stream]);
    profile.add(call);
    if (kind == Kind::event_record) events_[object] = streams_[stream];
    if (kind == Kind::stream_wait) streams_[stream] = std::max(streams_[stream], events_[object]);
  }
  LaunchKey key(const std::string& symbol) {
    LaunchKey key;
    key.function = functions.intern(symbol);
    key.block = {128, 1, 1};
    return key;
  }
  std::uint64_t run(std::uint64_t stream, std::uint64_t entered, std::uint64_t ns) {
    const std::uint64_t start = std::max(entered, streams_[stream]);
    streams_[stream] = start + ns;
    return start;
  }
  void launch(const std::string& symbol, std::uint64_t stream, std::uint64_t ns,
              bool in_window = true) {
    LaunchEvent event;
    event.key = key(symbol);
    event.window = in_window ? window_ : kNoWindow;
    event.correlation = correlation_ + 1;
    profile.add(event);
    const std::uint64_t entered = now_;
    profile.add(made(Kind::launch, stream));
    const std::uint64_t start = run(stream, entered, ns);
    records_.push_back({start, start + ns, correlation_, 0, 4, 7});
  }
  void copy(std::uint64_t stream, std::uint64_t ns) {
    profile.add(CopyCall{3, window_, correlation_ + 1});
    const std::uint64_t entered = now_;
    auto call = made(Kind::launch, stream);
    call.copy = true;
    profile.add(call);
    CopyRecord record;
    record.start_ns = run(stream, entered, ns);
    record.end_ns = record.start_ns + ns;
    record.bytes = 4;
    record.correlation = correlation_;
    record.kind = CopyKind::device_to_host;
    record.asynchronous = true;
    copies_.push_back(record);
  }
  // In the order in which buffers happen to come.
  void deliver() {
    for (auto record = records_.rbegin(); record != records_.rend(); ++record) profile.add(*record);
    records_.clear();
  }
  void deliver_copies() {
    for (const auto& record : copies_) profile.add(record);
    copies_.clear();
  }
  void three(const std::function<void()>& step) {
    for (WindowId id = first_; id < first_ + 3; ++id) {
      begin(id);
      step();
      end();
    }
    (void)profile.records_calls(first_ + 3, false);
    deliver();
  }
  [[nodiscard]] const std::vector<StepRecord>& recorded() const {
    return profile.state().step_records;
  }
  // What the middle step would be shorter without communication.
  static SavingRange without_communication(const StepRecord& record) {
    const auto graph = build_step_graph(record.steps, {});
    const auto replay = StepReplay::of(graph, 1);
    EXPECT_TRUE(replay);
    return replay ? replay->saving(replay->without({.communication = true})) : SavingRange{};
  }
  static void expect_sound(const StepRecord& record) {
    const auto graph = build_step_graph(record.steps, {});
    EXPECT_EQ(graph.refused, RefusedInput{});
    for (std::size_t kind = 0; kind < kEdgeKinds; ++kind)
      EXPECT_EQ(graph.violated[kind], 0u) << kind;
    const auto path = critical_path(graph, 1);
    ASSERT_FALSE(path.pieces.empty());
    EXPECT_EQ(path.unexplained_ns, 0u);
  }

  LayerTree layers;
  FunctionTable functions;
  Profile profile{layers, functions};
  WindowId window_ = kNoWindow, first_ = 1;
  std::uint32_t correlation_ = 0, thread_ = 1;
  std::uint64_t now_ = 1'000'000;
  std::map<std::uint64_t, std::uint64_t> streams_, events_;
  std::vector<KernelRecord> records_;
  std::vector<CopyRecord> copies_;
};

// Gradients are summed on a stream of their own while the backward pass goes on.
TEST_F(RecordedRow, HiddenCommunicationSavesNothing) {
  profile.add(StreamMade{kSide, true});
  three([&] {
    for (int i = 0; i < 4; ++i) {
      launch("work", kLegacy, 2'000'000);
      call(Kind::event_record, kLegacy, 1);
      call(Kind::stream_wait, kSide, 1);
      launch("ncclDevKernel_AllReduce", kSide, 1'000'000);
    }
    launch("work", kLegacy, 2'000'000);
    call(Kind::event_record, kSide, 2);
    call(Kind::stream_wait, kLegacy, 2);
    launch("opt", kLegacy, 500'000);
  });
  ASSERT_EQ(recorded().size(), 1u);
  const auto& record = recorded().front();
  expect_sound(record);
  EXPECT_EQ(without_communication(record).high_ns, 0);
  EXPECT_EQ(record.steps.borders, (std::vector<std::uint32_t>{0, 20, 40, 60}));
}

TEST_F(RecordedRow, ExposedCommunicationSavesWhatIsExposed) {
  profile.add(StreamMade{kSide, true});
  three([&] {
    for (int i = 0; i < 4; ++i) {
      launch("work", kLegacy, 1'000'000);
      call(Kind::event_record, kLegacy, 1);
      call(Kind::stream_wait, kSide, 1);
      launch("ncclDevKernel_AllReduce", kSide, 2'000'000);
    }
    call(Kind::event_record, kSide, 2);
    call(Kind::stream_wait, kLegacy, 2);
    launch("opt", kLegacy, 500'000);
  });
  ASSERT_EQ(recorded().size(), 1u);
  const auto& record = recorded().front();
  expect_sound(record);
  // The first begins 1 ms into the step, and the four take 8 ms: 9 ms instead of 4.
  EXPECT_EQ(without_communication(record).high_ns, 5'000'000);
  EXPECT_EQ(without_communication(record).low_ns, 5'000'000);
  ASSERT_EQ(record.steps.streams.size(), 2u);
  EXPECT_TRUE(record.steps.streams[0].legacy);
  EXPECT_TRUE(record.steps.streams[1].non_blocking);
  ASSERT_EQ(record.work.size(), 3u);
  for (const auto& operation : record.steps.operations) {
    const auto symbol = functions.symbol(record.work[operation.key].key.function);
    EXPECT_EQ(operation.kind == OperationKind::collective, symbol.starts_with("nccl")) << symbol;
  }
}

// PyTorch's backward pass: without the handoffs its thread alone would seem to take the whole step,
// and nothing would save any time.
TEST_F(RecordedRow, AThreadThatWaitsForAnotherIsNoLimit) {
  three([&] {
    launch("forward", kLegacy, 1'000'000);
    thread_ = 2;
    now_ += 30'000;
    launch("backward", kLegacy, 3'000'000);
    launch("backward", kLegacy, 3'000'000);
    thread_ = 1;
    now_ += 30'000;
    call(Kind::stream_synchronize, kLegacy);
  });
  ASSERT_EQ(recorded().size(), 1u);
  const auto& steps = recorded().front().steps;
  expect_sound(recorded().front());
  ASSERT_EQ(steps.handoffs.size(), 6u);
  EXPECT_EQ(steps.handoffs[0].from, 0u);
  EXPECT_EQ(steps.handoffs[0].to, 1u);
  EXPECT_EQ(steps.handoffs[1].from, 2u);
  EXPECT_EQ(steps.handoffs[1].to, 3u);
  const auto replay = StepReplay::of(build_step_graph(steps, {}), 1);
  ASSERT_TRUE(replay);
  Change change;
  for (const auto& operation : steps.operations) {
    const auto symbol = functions.symbol(recorded().front().work[operation.key].key.function);
    change.length_ns.push_back(symbol == "backward" ? 2'000'000 : kSameLength);
  }
  EXPECT_EQ(replay->saving(change).low_ns, 2'000'000);
}

// Two that launch beside each other wait for nobody.
TEST_F(RecordedRow, ThreadsThatRunAtOnceDoNotWaitForEachOther) {
  three([&] {
    for (int i = 0; i < 6; ++i) {
      thread_ = 1 + i % 2;
      launch("work", thread_ == 1 ? kLegacy : kSide, 100'000);
    }
  });
  ASSERT_EQ(recorded().size(), 1u);
  EXPECT_TRUE(recorded().front().steps.handoffs.empty());
}

// The GPU is behind by as many launches as fit into its queue, whatever a step is.
class RunAhead : public RecordedRow {
 protected:
  void row(int launches) {
    const auto step = [&] {
      for (int i = 0; i < launches; ++i) {
        // As the playback GPU: room for 1,000, and the one that runs.
        const std::size_t made = ends_.size();
        const std::uint64_t room = made > 1000 ? ends_[made - 1001] : 0;
        const std::uint64_t entered = now_;
        if (room > now_ + kCall) now_ = room - kCall;
        launch_from("work", entered, 100'000);
      }
    };
    for (int i = 0; i < 4000 / launches; ++i) step();
    records_.clear();
    three(step);
  }
  void launch_from(const std::string& symbol, std::uint64_t entered, std::uint64_t ns) {
    LaunchEvent event;
    event.key = key(symbol);
    event.window = window_;
    event.correlation = correlation_ + 1;
    profile.add(event);
    auto call = made(Kind::launch, kLegacy);
    call.enter_ns = entered;
    profile.add(call);
    const std::uint64_t start = run(kLegacy, entered, ns);
    ends_.push_back(start + ns);
    records_.push_back({start, start + ns, correlation_, 0, 4, 7});
  }
  std::vector<std::uint64_t> ends_;
};

TEST_F(RunAhead, AFullQueueIsNoWorkOfTheHost) {
  row(1000);
  ASSERT_EQ(recorded().size(), 1u);
  const auto& steps = recorded().front().steps;
  expect_sound(recorded().front());
  EXPECT_GT(steps.queue_full.size(), 1000u);
  const auto replay = StepReplay::of(build_step_graph(steps, {}), 1);
  ASSERT_TRUE(replay);
  Change change;
  change.length_ns.assign(steps.operations.size(), 50'000);
  EXPECT_NEAR(replay->saving(change).low_ns, 50'000'000, 500'000);
}

TEST_F(RunAhead, HowFarShortStepsAreAheadIsNotKnown) {
  row(20);
  EXPECT_TRUE(recorded().empty());
  EXPECT_GT(profile.state().step_recorder.too_far_ahead(), 0u);
}

// loss.item(): a copy, and the host waits for it.
TEST_F(RecordedRow, CopiesAreWaitedForAlsoAfterTheKernels) {
  three([&] {
    launch("work", kLegacy, 1'000'000);
    copy(kLegacy, 2000);
    call(Kind::stream_synchronize, kLegacy);
    now_ += 50'000;
  });
  EXPECT_TRUE(recorded().empty()) << "their copies have not come";
  deliver_copies();
  ASSERT_EQ(recorded().size(), 1u);
  expect_sound(recorded().front());
  const auto& operations = recorded().front().steps.operations;
  EXPECT_EQ(std::count_if(operations.begin(), operations.end(),
                          [](const auto& each) {
                            return each.kind == OperationKind::copy &&
                                   each.way == CopyWay::device_to_host && each.asynchronous;
                          }),
            3);
}

// A copy of no bytes makes no record.
TEST_F(RecordedRow, CopiesThatNeverComeAreWaitedForToTheEndOnly) {
  three([&] {
    launch("work", kLegacy, 1'000'000);
    copy(kLegacy, 0);
  });
  copies_.clear();
  EXPECT_TRUE(recorded().empty());
  profile.finish_records();
  EXPECT_EQ(recorded().size(), 1u);
}

// Between two ranges that are steps: it is part of the time until the next one begins.
TEST_F(RecordedRow, WhatComesBetweenStepsIsPartOfThem) {
  for (WindowId id = 1; id <= 3; ++id) {
    begin(id);
    launch("work", kLegacy, 1'000'000);
    end();
    launch("between", kLegacy, 1'000'000, false);
  }
  (void)profile.records_calls(4, false);
  auto between = std::move(records_);
  records_.clear();
  const auto in_window = [](const KernelRecord& record) { return record.correlation % 2 == 1; };
  for (const auto& record : between)
    if (in_window(record)) profile.add(record);
  EXPECT_TRUE(recorded().empty()) << "kernels between the steps have not come";
  for (const auto& record : between)
    if (!in_window(record) && record.correlation < 6) profile.add(record);
  ASSERT_EQ(recorded().size(), 1u);
  const auto& record = recorded().front();
  expect_sound(record);
  EXPECT_EQ(record.steps.borders, (std::vector<std::uint32_t>{0, 2, 4, 5}));
  EXPECT_EQ(record.steps.operations.size(), 5u);
}

// An evaluation after the third step, say.
TEST(StepRecorder, WhatFollowsTheLastStepDoesNotMakeItTooLarge) {
  FunctionTable functions;
  StepRecorder recorder(functions, 5);
  const auto fill = [&](WindowId id, int calls) {
    for (int i = 0; i < calls; ++i) {
      StepCall call;
      call.window = id;
      call.enter_ns = call.exit_ns = std::uint64_t{id} * 10;
      recorder.add(call);
    }
  };
  const auto end = [&](WindowId id) {
    WindowEnd ended;
    ended.window = ended.step = id;
    ended.end_ns = id * 10 + 5;
    recorder.close(ended, true);
  };
  for (WindowId id = 1; id <= 3; ++id) {
    recorder.begin(id);
    fill(id, 1);
    recorder.end(id);
  }
  EXPECT_TRUE(recorder.takes_calls());
  fill(3, 3);
  EXPECT_FALSE(recorder.takes_calls());
  for (WindowId id = 1; id <= 3; ++id) end(id);
  EXPECT_EQ(recorder.too_large(), 0u);
  EXPECT_TRUE(recorder.take());
  // One that is cut has nothing after it: the row begins anew.
  for (WindowId id = 4; id <= 7; ++id) {
    recorder.begin(id);
    fill(id, 1);
    recorder.end(id);
    if (id == 4) fill(id, 5);
    end(id);
    EXPECT_EQ(recorder.take().has_value(), id == 7) << id;
  }
  EXPECT_EQ(recorder.too_large(), 0u);
}

TEST_F(RecordedRow, OnlyNeighboursOfOneSequenceAreOneRecord) {
  const auto step = [&](WindowId id, const std::function<void(WindowEnd&)>& other = {}) {
    begin(id);
    launch("work", kLegacy, 1'000'000);
    auto end = end_of(id);
    if (other) other(end);
    profile.end_window(end);
    deliver();
  };
  step(1);
  step(2, [](WindowEnd& end) { end.sequence_hash = 8; });
  step(3, [](WindowEnd& end) { end.changed = true; });
  step(4, [](WindowEnd& end) { end.keep = false; });
  step(5);
  step(6);
  step(7, [](WindowEnd& end) { end.step = 9; });
  step(8, [](WindowEnd& end) { end.step = 10; });
  EXPECT_TRUE(recorded().empty());
  step(9, [](WindowEnd& end) { end.step = 11; });
  EXPECT_EQ(recorded().size(), 1u);
}

// Nothing that was called in a step: what is in it cannot be known.
TEST_F(RecordedRow, AStepWithoutCallsLeavesTheStepsOut) {
  int steps = 0;
  three([&] {
    if (++steps != 2) launch("work", kLegacy, 1'000'000);
  });
  EXPECT_TRUE(recorded().empty());
}

TEST_F(RecordedRow, ARowThatEndsEarlyIsForgotten) {
  begin(1);
  launch("work", kLegacy, 1'000'000);
  end();
  EXPECT_FALSE(profile.records_calls(2, false));
  deliver();
  EXPECT_FALSE(profile.state().step_recorder.active());
}

TEST_F(RecordedRow, AfterThreeRecordsNoneIsMade) {
  for (first_ = 1; first_ < 10; first_ += 3) three([&] { launch("work", kLegacy, 1'000'000); });
  EXPECT_EQ(recorded().size(), 3u);
  begin(10, false);
}

// The call of a launch was missed, as a border came on another thread: an edge would be missing.
TEST_F(RecordedRow, AKernelWithoutItsCallLeavesTheStepsOut) {
  three([&] {
    launch("work", kLegacy, 1'000'000);
    LaunchEvent event;
    event.key = key("unseen");
    event.window = window_;
    event.correlation = ++correlation_;
    profile.add(event);
    records_.push_back({now_, now_ + 1, correlation_, 0, 4, 7});
  });
  EXPECT_TRUE(recorded().empty());
}

TEST_F(RecordedRow, ContextsAreThoseOfTheStreams) {
  three([&] {
    launch("work", kSide, 1'000'000);
    auto record = made(Kind::event_record, kSide, 1);
    record.context = 5;  // was current
    profile.add(record);
  });
  ASSERT_EQ(recorded().size(), 1u);
  for (const auto& call : recorded().front().steps.calls) EXPECT_EQ(call.context, 4u);
}

TEST(StepRecorder, StepsThatAreTooLargeAreCounted) {
  FunctionTable functions;
  StepRecorder recorder(functions, 4);
  recorder.begin(1);
  StepCall call;
  call.window = 1;
  for (int i = 0; i < 4; ++i) recorder.add(call);
  EXPECT_EQ(recorder.too_large(), 0u);
  recorder.add(call);
  EXPECT_EQ(recorder.too_large(), 1u);
  EXPECT_FALSE(recorder.active());
  recorder.begin(2);
  KernelRecord record;
  record.start_ns = record.end_ns = 1;
  for (int i = 0; i < 5; ++i) recorder.add(record, {}, 2);
  EXPECT_EQ(recorder.too_large(), 2u);
}

// A fork of two branches, and what joins them.
TEST(StepRecorder, NodesOfAGraphFollowWhatHadEnded) {
  FunctionTable functions;
  StepRecorder recorder(functions);
  std::uint64_t now = 1000;
  for (WindowId id = 1; id <= 3; ++id) {
    recorder.begin(id);
    StepCall call;
    call.kind = RecordedCallKind::graph_launch;
    call.window = id;
    call.correlation = id;
    call.object = 0x9000;
    call.stream = 1;
    call.enter_ns = now;
    call.exit_ns = now + 10;
    recorder.add(call);
    const auto node = [&](std::uint64_t number, std::uint64_t from, std::uint64_t to) {
      KernelRecord record;
      record.start_ns = now + from;
      record.end_ns = now + to;
      record.correlation = id;
      recorder.add(record, {}, id, number);
    };
    node(14, 90, 100);
    node(11, 20, 40);
    node(12, 40, 80);
    node(13, 45, 85);
    now += 1000;
    WindowEnd end;
    end.window = end.step = id;
    recorder.close(end, true);
  }
  const auto record = recorder.take();
  ASSERT_TRUE(record);
  ASSERT_EQ(record->steps.graphs.size(), 1u);
  const auto& graph = record->steps.graphs.front();
  EXPECT_EQ(graph.nodes, (std::vector<std::uint64_t>{11, 12, 13, 14}));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const auto& edge : graph.edges) edges.emplace_back(edge.from, edge.to);
  EXPECT_EQ(edges,
            (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {0, 2}, {1, 3}, {2, 3}}));
  for (const auto& call : record->steps.calls) EXPECT_EQ(call.exec, 0x9000u);
}

// A handle that was destroyed may be another stream's.
TEST(StepRecorder, StreamsAreNonBlockingWhileTheyExist) {
  FunctionTable functions;
  StepRecorder recorder(functions);
  recorder.add(StreamMade{0x5000, true});
  recorder.add(StreamMade{0x6000, true});
  recorder.add(StreamMade{0x6000, false});
  for (WindowId id = 1; id <= 3; ++id) {
    recorder.begin(id);
    for (const std::uint64_t stream : {0x5000, 0x6000}) {
      StepCall call;
      call.kind = RecordedCallKind::event_record;
      call.window = id;
      call.stream = stream;
      call.enter_ns = call.exit_ns = id;
      recorder.add(call);
    }
    WindowEnd end;
    end.window = end.step = id;
    recorder.close(end, true);
  }
  recorder.add(StreamMade{0x5000, false});
  const auto record = recorder.take();
  ASSERT_TRUE(record);
  ASSERT_EQ(record->steps.streams.size(), 1u);
  EXPECT_EQ(record->steps.streams.front().stream, 0x5000u);
  EXPECT_TRUE(record->steps.streams.front().non_blocking);
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What is written down of a run, in which order, and where it ends.
#include "analysis/recorder/run_recorder.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/analysis/unsaid.h"

namespace gable::tests {
namespace {

constexpr Phase kTime{PhaseKind::time, 0}, kHw{PhaseKind::hw, 0};

LaunchKey key(FunctionId function) {
  LaunchKey key;
  key.function = function;
  return key;
}

void launch(RunRecorder& run, std::uint32_t step, FunctionId function, std::uint32_t correlation,
            WindowId window = kNoWindow) {
  LaunchEvent event;
  event.key = key(function);
  event.window = window;
  event.correlation = correlation;
  run.add(step, event);
}

KernelRecord record(std::uint32_t correlation, std::uint64_t start_ns, std::uint64_t end_ns) {
  KernelRecord made;
  made.correlation = correlation;
  made.start_ns = start_ns;
  made.end_ns = end_ns;
  return made;
}

void end(RunRecorder& run, WindowId id, Phase phase, bool keep = true) {
  WindowEnd end;
  end.window = id;
  end.phase = phase;
  end.keep = keep;
  end.start_ns = 100;
  end.end_ns = 200;
  run.end_window(end);
}

std::vector<std::uint32_t> whats(const RunRecorder& run) {
  std::vector<std::uint32_t> whats;
  for (const auto& call : run.calls()) whats.push_back(call.what);
  return whats;
}

TEST(RunRecorderOf, NothingHasNoNumbers) {
  const RunRecorder::Call call;
  expect_zeros(call.order, call.start_ns, call.end_ns, call.step, call.window, call.what,
               call.context, call.stream, call.thread, call.inherited);
  const RunRecorder::Kind kind;
  expect_zeros(kind.launches, kind.timed, kind.time_ns, kind.context, kind.stream);
  const RunRecorder::Value value;
  expect_zeros(value.sum, value.first, value.known, value.varies, value.mean());
  const RunRecorder::Sample sample;
  expect_zeros(sample.kind, sample.first);
  const RunRecorder::Window window;
  expect_zeros(window.start_ns, window.end_ns, window.ended, window.kept);
  const RunRecorder::GraphKernel kernel;
  expect_zeros(kernel.graph, kernel.kind);
  const RunRecorder::Lost lost;
  expect_zeros(lost.calls, lost.other_kinds, lost.unknown_graphs, lost.range_samples, lost.values);
  const RunRecorder run;
  expect_zeros(run.calls().size(), run.last_before_steps(), run.stray_copies(),
               run.metrics().size());
  const RecorderLimits& limits = run.limits();
  EXPECT_EQ(limits.max_calls, 100'000u);
  EXPECT_EQ(limits.max_values, 1'048'576u);
  EXPECT_EQ(limits.max_kinds, 8192u);
  EXPECT_EQ(limits.max_records, 65'536u);
  EXPECT_EQ(limits.max_windows, 16'384u);
  EXPECT_EQ(limits.max_bytes, 2'000'000u);
}

TEST(RunRecorderOf, AMeanIsTheFirstValueUnlessTheyVary) {
  RunRecorder::Value value;
  value.first = 5;
  value.sum = 12;
  value.known = 3;
  EXPECT_EQ(value.mean(), 5);
  value.varies = true;
  EXPECT_EQ(value.mean(), 4);
  value.known = 1;
  EXPECT_EQ(value.mean(), 12);
  value.known = 0;
  EXPECT_EQ(value.mean(), 5);
}

// Ids wrap at 32 bits; a call without one is where the last one is.
TEST(RunRecorderOf, CallsAreInTheOrderOfStepsAndCorrelations) {
  RunRecorder run;
  const std::uint32_t high = 0xFFFFFFF0;
  launch(run, 1, 10, high);
  launch(run, 1, 12, 5);  // after the wrap
  launch(run, 1, 11, high + 7);
  launch(run, 1, 13, 0);
  launch(run, 2, 15, 9);
  launch(run, 2, 14, 8);
  launch(run, 0, 9, 11);
  EXPECT_EQ(whats(run), (std::vector<std::uint32_t>{6, 0, 2, 1, 3, 5, 4}));
  const auto calls = run.calls();
  EXPECT_EQ(calls[1].order, (1ull << 32) + high);
  EXPECT_EQ(calls[2].order - calls[1].order, 7u);
  EXPECT_EQ(calls[3].order - calls[1].order, 21u);
  EXPECT_EQ(calls[4].order, calls[3].order);
  EXPECT_EQ(calls[0].step, 0u);
  run.restart();
  EXPECT_EQ(run.last_before_steps(), 2u);
}

TEST(RunRecorderOf, ThreadsAreNumberedFromOneAndTheMainOneIsZero) {
  RunRecorder run;
  const std::vector<char> places(1002);
  const auto thread_of = [&](const char* place, bool main = false) {
    run.set_thread(place, main);
    launch(run, 1, 1, 1);
    return run.calls().back().thread;
  };
  EXPECT_EQ(thread_of(&places[0], true), 0);
  EXPECT_EQ(thread_of(&places[1]), 1);
  EXPECT_EQ(thread_of(&places[2]), 2);
  EXPECT_EQ(thread_of(&places[1]), 1);
  for (std::size_t i = 3; i < 1000; ++i) run.set_thread(&places[i], false);
  EXPECT_EQ(thread_of(&places[1000]), 1000);
  EXPECT_EQ(thread_of(&places[1001]), 1);  // more than 1,000 are not told apart
}

TEST(RunRecorderOf, KindsAreFoundAgainAndBounded) {
  RecorderLimits limits;
  limits.max_kinds = 2;
  RunRecorder run(limits);
  launch(run, 1, 5, 1);
  launch(run, 1, 6, 2);
  launch(run, 1, 7, 3);
  launch(run, 1, 6, 4);
  EXPECT_EQ(run.kinds().size(), 2u);
  EXPECT_EQ(run.kinds()[0].launches, 1u);
  EXPECT_EQ(run.kinds()[1].launches, 2u);
  EXPECT_EQ(run.find_kind(key(6)), 1u);
  EXPECT_EQ(run.find_kind(key(7)), std::nullopt);
  EXPECT_EQ(run.lost().other_kinds, 1u);
  EXPECT_EQ(run.calls().size(), 3u);
}

TEST(RunRecorderOf, ARecordIsOfItsLaunch) {
  RunRecorder run;
  launch(run, 1, 5, 1, 1);
  launch(run, 1, 5, 2, 1);
  launch(run, 1, 5, 3);  // in no window: no record is awaited
  KernelRecord first = record(1, 50, 80);
  first.context = 4;
  first.stream = 6;
  first.resources = {32, 64};
  run.add(record(1, 0, 80));   // no time
  run.add(record(1, 90, 80));  // nor that
  run.add(record(9, 50, 80));
  run.add(record(3, 50, 80));
  CopyRecord copy;  // of another kind of call
  copy.correlation = 1;
  copy.start_ns = copy.end_ns = 7;
  run.add(copy);
  run.add(first);
  run.add(record(1, 60, 99));  // a second one
  run.add(record(2, 70, 70));  // took no time
  const auto calls = run.calls();
  EXPECT_EQ(calls[0].start_ns, 50u);
  EXPECT_EQ(calls[0].end_ns, 80u);
  EXPECT_EQ(calls[0].context, 4u);
  EXPECT_EQ(calls[0].stream, 6u);
  EXPECT_EQ(calls[1].end_ns, 70u);
  EXPECT_EQ(calls[2].end_ns, 0u);
  const auto& kind = run.kinds()[0];
  EXPECT_EQ(kind.timed, 2u);
  EXPECT_EQ(kind.time_ns, 30u);
}

TEST(RunRecorderOf, TheLastRecordSaysWhereAKindRuns) {
  RunRecorder run;
  launch(run, 1, 5, 1, 1);
  KernelRecord only = record(1, 50, 80);
  only.context = 4;
  only.stream = 6;
  only.resources = {32, 64};
  run.add(only);
  EXPECT_EQ(run.kinds()[0].context, 4u);
  EXPECT_EQ(run.kinds()[0].stream, 6u);
  EXPECT_EQ(run.kinds()[0].resources, (KernelResources{32, 64}));
}

TEST(RunRecorderOf, AGraphLastsFromItsFirstKernelToItsLast) {
  RecorderLimits limits;
  limits.max_records = 2;
  limits.max_kinds = 3;
  RunRecorder run(limits);
  GraphLaunch launched;
  launched.graph = 7;
  launched.key = key(70);
  const auto kernel = [&](std::uint32_t correlation, FunctionId function, std::uint64_t start_ns,
                          std::uint64_t end_ns) {
    GraphKernelRecord made;
    made.record = record(correlation, start_ns, end_ns);
    made.record.context = 3;
    made.record.stream = 4;
    made.record.resources = {16, 0};
    made.key = key(function);
    run.add(made);
  };
  for (const std::uint32_t correlation : {1, 2}) {
    launched.window = correlation;
    launched.correlation = correlation;
    run.add(1, launched);
    kernel(correlation, 71, 30, 40);
    kernel(correlation, 72, 20, 35);
    kernel(correlation, 71, 36, 38);
  }
  kernel(2, 73, 50, 60);  // of a fourth kind
  kernel(2, 71, 0, 60);   // no time
  kernel(9, 71, 1, 60);   // of no launch
  const auto calls = run.calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].kind, RunRecorder::CallKind::graph);
  EXPECT_EQ(calls[0].what, 7u);
  EXPECT_EQ(calls[0].start_ns, 20u);
  EXPECT_EQ(calls[0].end_ns, 40u);
  EXPECT_EQ(calls[0].context, 3u);
  EXPECT_EQ(calls[0].stream, 4u);
  EXPECT_EQ(calls[1].end_ns, 60u);
  EXPECT_EQ(run.lost().other_kinds, 1u);
  EXPECT_EQ(run.kinds()[0].launches, 2u);  // of the graph as a whole
  EXPECT_EQ(run.kinds()[1].timed, 4u);
  EXPECT_EQ(run.kinds()[1].time_ns, 24u);
  EXPECT_EQ(run.kinds()[1].resources, (KernelResources{16, 0}));
  // The first launch alone says which kernels there are, as far as there is room.
  ASSERT_EQ(run.graph_kernels().size(), 2u);
  EXPECT_EQ(run.graph_kernels()[0].graph, 7u);
  EXPECT_EQ(run.graph_kernels()[0].kind, 1u);
  EXPECT_EQ(run.graph_kernels()[1].kind, 2u);
}

TEST(RunRecorderOf, ACopyHasItsRecordAndTheStepOfItsWindow) {
  RunRecorder run;
  CopyCall call;
  call.layer = 3;
  call.window = 8;
  call.correlation = 2;
  run.add(0, call);
  launch(run, 5, 1, 1, 8);
  CopyRecord copy;
  copy.correlation = 2;
  copy.start_ns = 10;
  copy.end_ns = 30;
  copy.bytes = 64;
  copy.kind = CopyKind::memset;
  copy.host = HostMemory::managed;
  copy.device = 2;
  run.add(copy);
  run.add(copy);  // nothing awaits it any more: its call was not seen
  const auto calls = run.calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[1].kind, RunRecorder::CallKind::copy);
  EXPECT_EQ(calls[1].step, 5u);
  EXPECT_EQ(calls[1].what, 3u);
  EXPECT_EQ(calls[1].start_ns, 10u);
  EXPECT_EQ(calls[1].end_ns, 30u);
  EXPECT_EQ(calls[1].bytes, 64u);
  EXPECT_EQ(calls[1].copy, CopyKind::memset);
  EXPECT_EQ(calls[1].host, HostMemory::managed);
  EXPECT_EQ(calls[1].context, 2u);
}

// From the window's first nanosecond to the one before its end; in kept time windows alone.
TEST(RunRecorderOf, StrayCopiesCountInKeptTimeWindows) {
  const auto strays = [](Phase phase, bool keep, std::initializer_list<std::uint64_t> starts) {
    RunRecorder run;
    for (const std::uint64_t start : starts) {
      CopyRecord copy;
      copy.start_ns = start;
      copy.end_ns = start + 1;
      run.add(copy);
    }
    end(run, 1, phase, keep);
    return run.stray_copies();
  };
  EXPECT_EQ(strays(kTime, true, {99, 100, 150, 199, 200}), 3u);
  EXPECT_EQ(strays(kTime, false, {150}), 0u);
  EXPECT_EQ(strays(kHw, true, {150}), 0u);
  RunRecorder run;
  CopyRecord copy;
  copy.start_ns = copy.end_ns = 150;
  for (int i = 0; i < 5000; ++i) run.add(copy);
  end(run, 1, kTime);
  EXPECT_EQ(run.stray_copies(), 4096u);
}

TEST(RunRecorderOf, SamplesAreKeptWhileThereIsRoom) {
  RecorderLimits limits;
  limits.max_values = 5;
  RunRecorder run(limits);
  run.set_metrics(kHw, {"b", "a"});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double first[] = {1, nan}, second[] = {2, 4}, third[] = {3, 4};
  for (const double* values : {first, second, third}) {
    CounterSample sample;
    sample.key = key(5);
    sample.values = values;
    run.add(kHw, 1, sample);
    run.add(kTime, 1, sample);  // a phase without metrics
  }
  CounterSample none;
  none.key = key(5);
  run.add(kHw, 1, none);
  none.values = first;
  none.launches = 2;
  run.add(kHw, 1, none);
  EXPECT_EQ(run.metrics(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(run.lost().values, 1u);
  EXPECT_EQ(run.lost().range_samples, 1u);
  ASSERT_EQ(run.values().size(), 4u);
  EXPECT_EQ(run.values()[2], 2);
  const auto& window = run.windows().at(1);
  ASSERT_EQ(window.samples.size(), 2u);
  EXPECT_EQ(window.samples[1].first, 2u);
  EXPECT_EQ(window.phase, kHw);
  const auto& values = run.kinds()[0].values;
  EXPECT_EQ(values.at("b").mean(), 2);
  EXPECT_EQ(values.at("b").known, 3u);
  EXPECT_TRUE(values.at("b").varies);
  EXPECT_EQ(values.at("a").mean(), 4);
  EXPECT_EQ(values.at("a").known, 2u);
  EXPECT_FALSE(values.at("a").varies);  // unknown, and then always the same
}

// Four values fit into four.
TEST(RunRecorderOf, TheLastValueThatFitsIsKept) {
  RecorderLimits limits;
  limits.max_values = 4;
  RunRecorder run(limits);
  run.set_metrics(kHw, {"b", "a"});
  const double values[] = {1, 2};
  for (int i = 0; i < 3; ++i) run.add(kHw, 1, CounterSample{key(5), values});
  EXPECT_EQ(run.values().size(), 4u);
  EXPECT_EQ(run.lost().values, 1u);
}

TEST(RunRecorderOf, AValueThatIsUnknownOnceVaries) {
  RunRecorder run;
  run.set_metrics(kHw, {"a"});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double value : {6.0, nan}) run.add(kHw, 1, CounterSample{key(5), &value});
  EXPECT_TRUE(run.kinds()[0].values.at("a").varies);
  EXPECT_EQ(run.kinds()[0].values.at("a").mean(), 6);
}

TEST(RunRecorderOf, WindowsThatMeasureAreKept) {
  RecorderLimits limits;
  limits.max_windows = 2;
  RunRecorder run(limits);
  end(run, 1, Phase{PhaseKind::warmup, 0});
  EXPECT_TRUE(run.windows().empty());
  end(run, 2, kTime);
  end(run, 3, kHw, false);
  end(run, 4, kTime);
  ASSERT_EQ(run.windows().size(), 2u);
  const auto& kept = run.windows().at(2);
  EXPECT_TRUE(kept.ended && kept.kept);
  EXPECT_EQ(kept.phase, kTime);
  EXPECT_EQ(kept.start_ns, 100u);
  EXPECT_EQ(kept.end_ns, 200u);
  EXPECT_TRUE(run.windows().at(3).ended);
  EXPECT_FALSE(run.windows().at(3).kept);
  run.set_metrics(kHw, {"a"});
  const double value = 1;
  run.add(kHw, 5, CounterSample{key(5), &value});
  EXPECT_TRUE(run.values().empty());
}

// The first two steps in which nothing was measured stay; records still find their launches.
TEST(RunRecorderOf, RoomIsMadeOnce) {
  RecorderLimits limits;
  limits.max_calls = 6;
  RunRecorder run(limits);
  for (std::uint32_t step = 1; step <= 5; ++step) launch(run, step, step, step);
  launch(run, 6, 6, 6, 1);
  launch(run, 7, 7, 7, 2);  // finds three places that are free now
  EXPECT_EQ(run.lost().calls, 3u);
  EXPECT_EQ(run.calls().size(), 4u);
  run.add(record(6, 50, 80));
  run.add(record(7, 90, 95));
  launch(run, 8, 8, 8);
  launch(run, 9, 9, 9);
  launch(run, 10, 10, 10);  // no more
  EXPECT_EQ(run.lost().calls, 4u);
  const auto calls = run.calls();
  std::vector<std::uint32_t> steps;
  steps.reserve(calls.size());
  for (const auto& call : calls) steps.push_back(call.step);
  EXPECT_EQ(steps, (std::vector<std::uint32_t>{1, 2, 6, 7, 8, 9}));
  EXPECT_EQ(calls[2].end_ns, 80u);
  EXPECT_EQ(calls[3].end_ns, 95u);
  run.restart();
  EXPECT_EQ(run.last_before_steps(), 10u);
}

}  // namespace
}  // namespace gable::tests

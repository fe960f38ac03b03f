// SPDX-License-Identifier: Apache-2.0
// When a recording's work happens. Every event is a line: what, from when to when, on which
// thread, stream and context, by which call, how many bytes, in which layer.
#include "tools/export/timeline.h"

#include <gtest/gtest.h>

namespace gable::tests {
namespace {

constexpr std::size_t kAll = 100000;
using Lines = std::vector<std::string>;

RecordedOp op(OpKind kind, const std::string& name = {}) {
  RecordedOp made;
  made.kind = kind;
  made.name = name;
  return made;
}

RecordedOp on_stream(OpKind kind, std::uint32_t stream, std::int64_t id = 0) {
  RecordedOp made = op(kind);
  made.stream = stream;
  made.id = id;
  return made;
}

RecordedOp launch(std::uint32_t kernel, std::uint32_t stream = 0) {
  RecordedOp made = on_stream(OpKind::launch, stream);
  made.kernel = kernel;
  return made;
}

RecordedOp idle(std::uint64_t ns) {
  RecordedOp made = op(OpKind::idle);
  made.amount = ns;
  return made;
}

RecordedOp play(std::uint64_t times) {
  RecordedOp made = op(OpKind::play);
  made.amount = times;
  return made;
}

// Kernel a takes 5000 ns, b 1001.
Recording recording(const std::vector<RecordedOp>& ops) {
  Recording made;
  made.kernels.resize(2);
  made.kernels[0].name = "a";
  made.kernels[0].time_ns = 5000;
  made.kernels[1].name = "b";
  made.kernels[1].time_ns = 1001;
  made.ops = ops;
  return made;
}

std::string line(const TimelineEvent& event) {
  std::string text = event.name + " " + std::to_string(event.start_ns) + "-" +
                     std::to_string(event.end_ns) + " t" + std::to_string(event.thread) + " s" +
                     std::to_string(event.stream) + " c" + std::to_string(event.context) +
                     " link " + std::to_string(event.link) + " bytes " +
                     std::to_string(event.bytes);
  if (event.across_threads) text += " across";
  if (event.direction != Direction::none) text += " " + to_string(event.direction);
  if (!event.layer.empty()) text += " in " + event.layer;
  const char* kinds[] = {"range", "call", "kernel", "copy"};
  return kinds[static_cast<int>(event.kind)] + (": " + text);
}

Lines lines(const Timeline& timeline) {
  Lines all;
  for (const TimelineEvent& event : timeline.events) all.push_back(line(event));
  return all;
}

Lines lines(const std::vector<RecordedOp>& ops) { return lines(timeline_of(recording(ops), kAll)); }

TEST(Timeline, WorkBeginsWhenItsCallReturnsAndItsStreamIsFree) {
  RecordedOp push = op(OpKind::push, "conv");
  push.direction = Direction::backward;
  RecordedOp scaled = launch(1);
  scaled.scale = 2.5;
  RecordedOp exact = launch(1, 3);
  exact.time_ns = 7;
  exact.host_ns = 100;
  exact.context = 2;
  const Timeline timeline = timeline_of(
      recording({op(OpKind::push, "step"), push, launch(0), op(OpKind::pop), scaled, exact}), kAll);
  EXPECT_EQ(lines(timeline),
            (Lines{"call: launch 0-2000 t0 s0 c0 link 1 bytes 0",
                   "kernel: a 2000-7000 t0 s0 c0 link 1 bytes 0 in step/conv",
                   "range: conv 0-2000 t0 s0 c0 link 0 bytes 0 backward",
                   "call: launch 2000-4000 t0 s0 c0 link 2 bytes 0",
                   "kernel: b 7000-9503 t0 s0 c0 link 2 bytes 0 in step",  // 2502.5 ns
                   "call: launch 4000-4100 t0 s0 c0 link 3 bytes 0",
                   "kernel: b 4100-4107 t0 s3 c2 link 3 bytes 0 in step",
                   "range: step 0-4100 t0 s0 c0 link 0 bytes 0"}));
  EXPECT_EQ(timeline.end_ns, 9503u);
  EXPECT_FALSE(timeline.cut);
  EXPECT_EQ(timeline_of(recording({idle(30)}), kAll).end_ns, 30u);
}

TEST(Timeline, CopiesHaveTheirBytes) {
  const auto copy = [](CopyKind kind) {
    RecordedOp made = op(OpKind::copy);
    made.copy = kind;
    made.amount = 4096;
    made.host_ns = 1;
    made.thread = 5;
    return made;
  };
  RecordedOp timed = copy(CopyKind::other);
  timed.time_ns = 60;
  EXPECT_EQ(lines({copy(CopyKind::host_to_device), copy(CopyKind::device_to_host),
                   copy(CopyKind::device_to_device), timed}),
            (Lines{"call: copy 0-1 t5 s0 c0 link 1 bytes 0",
                   "copy: copy host to device 1-1001 t5 s0 c0 link 1 bytes 4096",
                   "call: copy 1-2 t5 s0 c0 link 2 bytes 0",
                   "copy: copy device to host 1001-2001 t5 s0 c0 link 2 bytes 4096",
                   "call: copy 2-3 t5 s0 c0 link 3 bytes 0",
                   "copy: copy device to device 2001-3001 t5 s0 c0 link 3 bytes 4096",
                   "call: copy 3-4 t5 s0 c0 link 4 bytes 0",
                   "copy: memset 3001-3061 t5 s0 c0 link 4 bytes 4096"}));
}

TEST(Timeline, RangesOfThreadsAndAcrossThem) {
  const auto on_thread = [](OpKind kind, const std::string& name, std::int32_t thread,
                            std::int64_t id = 0) {
    RecordedOp made = op(kind, name);
    made.thread = thread;
    made.id = id;
    return made;
  };
  RecordedOp work = launch(1);
  work.thread = 2;
  EXPECT_EQ(
      lines({on_thread(OpKind::start, "late", 1, 9), on_thread(OpKind::start, "early", 1, 8),
             on_thread(OpKind::push, "other", 1), on_thread(OpKind::push, "own", 2), idle(10), work,
             on_thread(OpKind::end, "", 2, 9), idle(10), on_thread(OpKind::end, "", 2, 9),
             on_thread(OpKind::end, "", 2, 77), on_thread(OpKind::pop, "", 3),
             on_thread(OpKind::pop, "", 2), on_thread(OpKind::pop, "", 2), idle(10)}),
      (Lines{"call: launch 10-2010 t2 s0 c0 link 1 bytes 0",
             "kernel: b 2010-3011 t2 s0 c0 link 1 bytes 0 in late/early/own",
             "range: late 0-2010 t1 s0 c0 link 0 bytes 0 across",
             "range: own 0-2020 t2 s0 c0 link 0 bytes 0",
             // Those that are open end with the recording.
             "range: other 0-2030 t1 s0 c0 link 0 bytes 0",
             "range: early 0-2030 t1 s0 c0 link 0 bytes 0 across"}));
}

TEST(Timeline, ASynchronisationWaitsForWhatItNames) {
  // Streams 1 and 2 of a context and stream 1 of another end at 7000, 9000 and 11000.
  RecordedOp other = launch(0, 1);
  other.context = 1;
  const std::vector<RecordedOp> work = {launch(0, 1), launch(0, 2), other};
  const auto end_of = [&](const RecordedOp& sync) {
    std::vector<RecordedOp> ops = work;
    ops.push_back(sync);
    return lines(ops).back();
  };
  RecordedOp context = on_stream(OpKind::sync, 0);
  context.whole_context = true;
  RecordedOp second = on_stream(OpKind::sync, 1);
  second.context = 1;
  second.thread = 4;
  const std::string begin = "call: synchronize 6000-", end = " t0 s0 c0 link 0 bytes 0";
  EXPECT_EQ(end_of(on_stream(OpKind::sync, 1)), begin + "7000" + end);
  EXPECT_EQ(end_of(on_stream(OpKind::sync, 2)), begin + "9000" + end);
  EXPECT_EQ(end_of(on_stream(OpKind::sync, 3)), begin + "7000" + end);  // what the call takes
  EXPECT_EQ(end_of(context), begin + "9000" + end);
  EXPECT_EQ(end_of(second), begin + "11000 t4 s0 c0 link 0 bytes 0");
}

TEST(Timeline, EventsOrderStreams) {
  const std::vector<RecordedOp> ops = {launch(0, 1), on_stream(OpKind::event_record, 1, 6),
                                       on_stream(OpKind::stream_wait, 2, 6), launch(1, 2),
                                       on_stream(OpKind::sync, 2, 6)};
  EXPECT_EQ(lines(ops), (Lines{"call: launch 0-2000 t0 s0 c0 link 1 bytes 0",
                               "kernel: a 2000-7000 t0 s1 c0 link 1 bytes 0",
                               "call: record event 2000-2500 t0 s0 c0 link 0 bytes 0",
                               "call: wait for event 2500-3000 t0 s0 c0 link 0 bytes 0",
                               "call: launch 3000-5000 t0 s0 c0 link 2 bytes 0",
                               "kernel: b 7000-8001 t0 s2 c0 link 2 bytes 0",
                               "call: synchronize 5000-7000 t0 s0 c0 link 0 bytes 0"}));
  // Of an idle stream the event is reached at once; a stream does not go back.
  EXPECT_EQ(lines({on_stream(OpKind::event_record, 1, 6), launch(0, 2),
                   on_stream(OpKind::stream_wait, 2, 6), launch(1, 2)})
                .back(),
            "kernel: b 7500-8501 t0 s2 c0 link 2 bytes 0");
  EXPECT_EQ(lines({idle(9000), on_stream(OpKind::event_record, 1, 6),
                   on_stream(OpKind::stream_wait, 2, 6), launch(1, 2)})
                .back(),
            "kernel: b 12000-13001 t0 s2 c0 link 1 bytes 0");
}

TEST(Timeline, AGraphRunsWhatWasCaptured) {
  RecordedOp listed = on_stream(OpKind::graph_launch, 1);
  listed.kernels = {1, 0};
  listed.time_ns = 10;
  EXPECT_EQ(
      lines({on_stream(OpKind::capture_begin, 1), op(OpKind::push, "net"), launch(0, 1),
             op(OpKind::pop), launch(1, 1), on_stream(OpKind::capture_end, 1, 4),
             on_stream(OpKind::graph_launch, 1, 4), on_stream(OpKind::graph_launch, 1, 5), listed}),
      (Lines{"call: launch 0-2000 t0 s0 c0 link 0 bytes 0",
             "range: net 0-2000 t0 s0 c0 link 0 bytes 0",
             "call: launch 2000-4000 t0 s0 c0 link 0 bytes 0",
             "call: graph launch 4000-6000 t0 s0 c0 link 1 bytes 0",
             "kernel: a 6000-11000 t0 s1 c0 link 1 bytes 0 in net",
             "kernel: b 11000-12001 t0 s1 c0 link 1 bytes 0",
             "call: graph launch 6000-8000 t0 s0 c0 link 2 bytes 0",  // nobody knows it
             "call: graph launch 8000-10000 t0 s0 c0 link 3 bytes 0",
             "kernel: b 12001-12011 t0 s1 c0 link 3 bytes 0",
             "kernel: a 12011-12021 t0 s1 c0 link 3 bytes 0"}));
  listed.time_ns.reset();
  EXPECT_EQ(lines({listed}).back(), "kernel: a 3001-8001 t0 s1 c0 link 1 bytes 0");
  // A capture that gave no graph, and the end of one that never began.
  EXPECT_EQ(lines({on_stream(OpKind::capture_begin, 1), launch(0, 1),
                   on_stream(OpKind::capture_end, 1), on_stream(OpKind::capture_end, 1, 4),
                   on_stream(OpKind::graph_launch, 1), on_stream(OpKind::graph_launch, 1, 4)})
                .size(),
            3u);
}

TEST(Timeline, AFullStreamMakesCallsWait) {
  std::vector<RecordedOp> ops;
  for (int i = 0; i < 1026; ++i) {
    ops.push_back(launch(0));
    ops.back().host_ns = 0;
    ops.back().time_ns = 10;
  }
  const Timeline timeline = timeline_of(recording(ops), kAll);
  ASSERT_EQ(timeline.events.size(), 2052u);
  EXPECT_EQ(timeline.events[2046].end_ns, 0u);  // the 1024th call
  EXPECT_EQ(timeline.events[2048].end_ns, 10u);
  EXPECT_EQ(timeline.events[2050].end_ns, 20u);
  EXPECT_EQ(timeline.end_ns, 10260u);
}

TEST(Timeline, SequencesAreRepeated) {
  Recording made = recording({play(3), idle(1)});
  made.sequences.resize(1);
  made.sequences[0].ops = {idle(100)};
  EXPECT_EQ(timeline_of(made, kAll).end_ns, 301u);
  made.ops = {play(0)};
  EXPECT_EQ(timeline_of(made, kAll).end_ns, 0u);
  // Within each other 32 times.
  made.ops = {play(1)};
  made.sequences[0].ops = {idle(1), play(1)};
  EXPECT_EQ(timeline_of(made, kAll).end_ns, 32u);
  // Where the program ends, nothing follows.
  made.ops = {play(3), idle(1)};
  made.sequences[0].ops = {idle(100), op(OpKind::exit), idle(100)};
  EXPECT_EQ(timeline_of(made, kAll).end_ns, 100u);
}

TEST(Timeline, TheRestIsCut) {
  const std::vector<RecordedOp> ops = {op(OpKind::push, "net"), launch(0), launch(1), idle(5)};
  const Timeline whole = timeline_of(recording(ops), 5);
  EXPECT_FALSE(whole.cut);
  EXPECT_EQ(whole.events.size(), 5u);
  for (const std::size_t most : {4u, 3u}) {
    const Timeline all_work = timeline_of(recording(ops), most);
    EXPECT_TRUE(all_work.cut);  // the idle time
    EXPECT_EQ(all_work.events.size(), 5u);
  }
  const Timeline cut = timeline_of(recording(ops), 2);
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(lines(cut), (Lines{"call: launch 0-2000 t0 s0 c0 link 1 bytes 0",
                               "kernel: a 2000-7000 t0 s0 c0 link 1 bytes 0 in net",
                               "range: net 0-2000 t0 s0 c0 link 0 bytes 0"}));
}

}  // namespace
}  // namespace gable::tests

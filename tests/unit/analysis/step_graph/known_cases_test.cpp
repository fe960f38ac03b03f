// SPDX-License-Identifier: Apache-2.0
// Steps whose path, exposed time and savings are known without any calculation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>
#include <vector>

#include "analysis/step_graph/critical_path.h"
#include "analysis/step_graph/exposed.h"
#include "analysis/step_graph/graph_builder.h"
#include "analysis/step_graph/step_replay.h"
#include "tests/unit/analysis/step_graph/executor.h"

namespace gable {
namespace {

using made_up::Instruction;
using made_up::Program;

constexpr std::uint64_t kUs = 1000, kMs = 1000 * kUs;

Instruction launch(std::uint32_t stream, std::uint32_t key, std::uint64_t gap = kUs,
                   std::uint64_t cost = 3 * kUs) {
  Instruction made;
  made.kind = RecordedCallKind::launch;
  made.stream = stream;
  made.key = key;
  made.gap = gap;
  made.cost = cost;
  return made;
}
Instruction call(RecordedCallKind kind, std::uint32_t stream, std::uint32_t event = 0) {
  Instruction made = launch(stream, 0);
  made.kind = kind;
  made.event = event;
  return made;
}
Program program_of(std::uint32_t streams, std::vector<std::uint64_t> lengths,
                   std::vector<Instruction> step) {
  Program program;
  for (std::uint32_t i = 0; i < streams; ++i) program.streams.push_back({10 + i, 1, false, true});
  program.lengths = std::move(lengths);
  program.step = std::move(step);
  program.stream_gap = 0;
  return program;
}

// Five steps after ten others; the middle one is looked at.
struct Looked {
  explicit Looked(const Program& program)
      : recorded(execute(program, program.lengths, 16, 10, 15).recorded),
        graph(build_step_graph(recorded)),
        replay(StepReplay::of(graph, 2).value()),
        path(critical_path(graph, 2)) {}

  [[nodiscard]] Change with(std::uint32_t key, double share) const {
    Change change;
    for (const RecordedOperation& operation : recorded.operations)
      change.length_ns.push_back(
          operation.key == key
              ? static_cast<std::uint64_t>(std::llround(
                    share * static_cast<double>(operation.end_ns - operation.start_ns)))
              : kSameLength);
    return change;
  }
  [[nodiscard]] SavingRange saving(std::uint32_t key, double share) const {
    return replay.saving(with(key, share));
  }
  [[nodiscard]] std::uint64_t on_path(PieceKind kind) const {
    return std::accumulate(path.pieces.begin(), path.pieces.end(), std::uint64_t{0},
                           [&](std::uint64_t sum, const PathPiece& piece) {
                             return piece.kind == kind ? sum + piece.end_ns - piece.start_ns : sum;
                           });
  }

  RecordedSteps recorded;
  StepGraph graph;
  StepReplay replay;
  CriticalPath path;
};

TEST(KnownSteps, TwoKernelsInARowShareTheStep) {
  const Looked looked(program_of(1, {600 * kUs, 400 * kUs}, {launch(0, 0), launch(0, 1)}));
  EXPECT_EQ(looked.path.end_ns - looked.path.start_ns, kMs);
  EXPECT_EQ(looked.on_path(PieceKind::kernel), kMs);
  EXPECT_EQ(looked.path.pieces.size(), 2u);
  EXPECT_EQ(looked.replay.base().step_ns, 1e6);
  EXPECT_EQ(looked.saving(1, 0.5).low_ns, 2e5);
  EXPECT_EQ(looked.saving(1, 0.5).high_ns, 2e5);
  EXPECT_EQ(looked.saving(0, 0).high_ns, 6e5);
  EXPECT_TRUE(looked.saving(0, 0).settled);
  EXPECT_EQ(looked.replay.replay_error(), 0);
}

// A matrix product of 1.0 ms, beside it an allreduce of 0.9 ms that the next step waits for.
Program overlapped_allreduce() {
  Program program = program_of(
      2, {100 * kUs, kMs, 900 * kUs},
      {launch(0, 0), call(RecordedCallKind::event_record, 0, 1),
       call(RecordedCallKind::stream_wait, 1, 1), launch(1, 2), launch(0, 1),
       call(RecordedCallKind::event_record, 1, 2), call(RecordedCallKind::stream_wait, 0, 2)});
  program.step[3].operation = OperationKind::collective;
  return program;
}

TEST(KnownSteps, AnAllreduceThatIsHiddenSavesNothing) {
  const Looked looked(overlapped_allreduce());
  EXPECT_EQ(looked.replay.base().step_ns, 1.1e6);
  EXPECT_EQ(looked.saving(2, 0).high_ns, 0);
  EXPECT_EQ(looked.replay.saving(looked.replay.without({.communication = true})).high_ns, 0);
  EXPECT_EQ(looked.on_path(PieceKind::collective), 0u);
  const ExposedTime exposed = exposed_time(looked.graph, looked.path.start_ns, looked.path.end_ns);
  EXPECT_EQ(exposed.communication_ns, 0u);
  EXPECT_EQ(exposed.compute_ns, 1100 * kUs);
  // Without the product the allreduce is what remains, if the others are as fast: 0.1 ms.
  const SavingRange product = looked.saving(1, 0);
  EXPECT_EQ(product.high_ns, 1e5);
  EXPECT_EQ(product.low_ns, 0);
  EXPECT_TRUE(product.other_ranks);
  EXPECT_TRUE(product.overlapped);
}

TEST(KnownSteps, AnAllreduceThatSticksOutIsExposed) {
  Program program = overlapped_allreduce();
  program.lengths[2] = 1400 * kUs;
  const Looked looked(program);
  EXPECT_EQ(looked.replay.base().step_ns, 1.5e6);
  EXPECT_EQ(looked.replay.saving(looked.replay.without({.communication = true})).high_ns, 4e5);
  const ExposedTime exposed = exposed_time(looked.graph, looked.path.start_ns, looked.path.end_ns);
  EXPECT_EQ(exposed.communication_ns, 400 * kUs);
  // Of the allreduce 1.0 ms lies beside the product: half of the rest is certain.
  const SavingRange half = looked.saving(2, 0.5);
  EXPECT_EQ(half.low_ns, 2e5);
  EXPECT_EQ(half.high_ns, 4e5);
}

// A value is read at the end of each step: everything is drained, and the launch shows.
TEST(KnownSteps, AnItemInEachStepShowsTheLaunch) {
  Program program = program_of(
      1, {200 * kUs, 10 * kUs},
      {launch(0, 0, 20 * kUs), launch(0, 1), call(RecordedCallKind::stream_synchronize, 0)});
  program.step[1].operation = OperationKind::copy;
  program.step[1].way = CopyWay::device_to_host;
  program.step[1].asynchronous = true;
  const Looked looked(program);
  // 6.4 us of latency, 210 on the GPU, 3 to wake up, 20 until the next launch.
  EXPECT_EQ(looked.path.end_ns - looked.path.start_ns, 239400u);
  EXPECT_EQ(looked.on_path(PieceKind::kernel), 200 * kUs);
  EXPECT_EQ(looked.on_path(PieceKind::copy), 10 * kUs);
  EXPECT_EQ(looked.on_path(PieceKind::wake_up), 3 * kUs);
  EXPECT_EQ(looked.on_path(PieceKind::host_gap), 20 * kUs);
  EXPECT_EQ(looked.on_path(PieceKind::launch_latency), 6400u);
  EXPECT_EQ(looked.path.unexplained_ns, 0u);
  EXPECT_EQ(looked.saving(0, 0.5).high_ns, 1e5);
  EXPECT_EQ(looked.replay.saving(looked.replay.without({.host_gaps = true})).high_ns, 2e4);
}

// 200 launches a step, 9.5 ms on the host and 10 ms on the GPU. Kernels that are 20 % shorter save
// what the GPU was behind the host, 0.5 ms; the replay of one step alone would say 2 ms.
TEST(KnownSteps, AHostThatIsAlmostTheLimitLimitsTheSaving) {
  std::vector<Instruction> step(200, launch(0, 0, 44500, 3000));
  Program program = program_of(1, {50 * kUs}, step);
  for (const std::uint32_t depth : {0u, 1000u}) {
    program.depth = depth;
    const Looked looked(program);
    EXPECT_EQ(looked.replay.base().step_ns, 1e7);
    EXPECT_EQ(looked.saving(0, 0.8).high_ns, 5e5);
    EXPECT_EQ(looked.saving(0, 0.8).low_ns, 5e5);
    EXPECT_LE(looked.replay.base().steps, 8u);
    auto lengths = program.lengths;
    lengths[0] = lengths[0] * 8 / 10;
    const auto run = execute(program, lengths, 50, 0, 1);
    EXPECT_EQ(run.starts[49][made_up::place_of(0, made_up::kWork)] -
                  run.starts[48][made_up::place_of(0, made_up::kWork)],
              9500 * kUs);
  }
}

// Two chains of two kernels, each after the other chain of the step before: the step's length goes
// back and forth between 200 and 300 us, and their mean counts.
TEST(KnownSteps, StepsThatTakeTurnsCountByTheirMean) {
  constexpr std::uint32_t kOne = 1, kOther = 2, kOneHalf = 3, kOtherHalf = 4;
  const Program program = program_of(
      4, {100 * kUs, 150 * kUs},
      {call(RecordedCallKind::stream_wait, 0, kOther), call(RecordedCallKind::stream_wait, 2, kOne),
       launch(0, 0), call(RecordedCallKind::event_record, 0, kOneHalf),
       call(RecordedCallKind::stream_wait, 1, kOneHalf), launch(1, 0),
       call(RecordedCallKind::event_record, 1, kOne), launch(2, 1),
       call(RecordedCallKind::event_record, 2, kOtherHalf),
       call(RecordedCallKind::stream_wait, 3, kOtherHalf), launch(3, 1),
       call(RecordedCallKind::event_record, 3, kOther)});
  const Looked looked(program);
  EXPECT_NE(looked.path.end_ns - looked.path.start_ns, 250 * kUs);
  EXPECT_EQ(looked.replay.base().step_ns, 25e4);
  EXPECT_TRUE(looked.replay.base().settled);
  EXPECT_EQ(looked.saving(1, 0.5).high_ns, 75e3);
}

// The second kernel begins while the first still runs, and waits for its end: it costs what it
// takes after that.
TEST(KnownSteps, AKernelThatBeginsEarlyCostsItsRest) {
  Program program = program_of(1, {300 * kUs, 100 * kUs}, {launch(0, 0), launch(0, 1)});
  program.step[1].programmatic = true;
  program.trigger = 50 * kUs;
  const Looked looked(program);
  const RecordedOperation& early = looked.recorded.operations[5];
  EXPECT_EQ(early.end_ns - early.start_ns, 350 * kUs);  // 250 of them it waits
  EXPECT_EQ(looked.replay.base().step_ns, 4e5);
  EXPECT_EQ(looked.path.end_ns - looked.path.start_ns, 400 * kUs);
  EXPECT_EQ(looked.path.unexplained_ns, 0u);
  EXPECT_EQ(looked.saving(1, 0).high_ns, 1e5);
  EXPECT_EQ(looked.saving(0, 0).high_ns, 3e5);
  EXPECT_EQ(looked.saving(1, 0.5).high_ns, 5e4);
  // It ran beside the first for most of its time: no more than its rest is certain.
  EXPECT_TRUE(looked.saving(1, 0.5).overlapped);
}

// By the kinds of memory both copies may hold up their call. One call outlasted its copy.
TEST(KnownSteps, ACopyThatTheCallDidNotOutlastIsNoWait) {
  Program program = program_of(1, {100 * kUs, 40 * kUs}, {launch(0, 0), launch(0, 1)});
  Instruction& copy = program.step[1];
  copy.operation = OperationKind::copy;
  copy.way = CopyWay::device_to_host;
  copy.pageable = copy.asynchronous = true;
  EXPECT_EQ(Looked(program).on_path(PieceKind::wake_up), 0u);
  EXPECT_EQ(Looked(program).replay.base().step_ns, 1.4e5);
  copy.blocks = true;
  EXPECT_EQ(Looked(program).on_path(PieceKind::wake_up), 3 * kUs);
  EXPECT_GT(Looked(program).replay.base().step_ns, 1.4e5);

  // A GPU whose clock is 5 us late: the copy seems to end after its call returned, by 2 us.
  RecordedSteps late = Looked(program).recorded;
  for (RecordedOperation& operation : late.operations) {
    operation.start_ns += 5 * kUs;
    operation.end_ns += 5 * kUs;
  }
  const auto waits = [&](std::uint64_t jitter_ns) {
    const StepGraph graph = build_step_graph(late, {jitter_ns});
    return std::count_if(graph.edges.begin(), graph.edges.end(),
                         [](const GraphEdge& edge) { return edge.kind == EdgeKind::host_wait; });
  };
  EXPECT_EQ(waits(1999), 0);
  EXPECT_EQ(waits(2000), 5);
}

// cuMemFree "may" wait: it did where it outlasted all that ran.
// A synchronous copy from pageable memory waits for its stream, then the call copies by itself.
TEST(KnownSteps, WhatACallStagesIsNoWakeUp) {
  RecordedSteps steps;
  for (std::uint32_t step = 0; step < 3; ++step) {
    const std::uint64_t at = std::uint64_t{step + 1} * 300 * kUs;
    const auto add = [&](std::uint64_t enter, std::uint64_t exit, std::uint64_t start,
                         std::uint64_t end) -> RecordedOperation& {
      RecordedCall call;
      call.kind = RecordedCallKind::launch;
      call.enter_ns = at + enter * kUs;
      call.exit_ns = at + exit * kUs;
      call.correlation = static_cast<std::uint32_t>(steps.calls.size() + 1);
      steps.calls.push_back(call);
      RecordedOperation operation;
      operation.correlation = call.correlation;
      operation.start_ns = at + start * kUs;
      operation.end_ns = at + end * kUs;
      steps.operations.push_back(operation);
      return steps.operations.back();
    };
    steps.borders.push_back(static_cast<std::uint32_t>(steps.calls.size()));
    add(0, 5, 10, 110);
    RecordedOperation& copy = add(20, 180, 120, 185);
    copy.kind = OperationKind::copy;
    copy.way = CopyWay::host_to_device;
    copy.pageable = true;
  }
  steps.borders.push_back(static_cast<std::uint32_t>(steps.calls.size()));
  const CriticalPath path = critical_path(build_step_graph(steps), 1);
  std::map<PieceKind, std::uint64_t> sums;
  for (const PathPiece& piece : path.pieces) sums[piece.kind] += piece.end_ns - piece.start_ns;
  EXPECT_EQ(sums[PieceKind::kernel], 100 * kUs);
  EXPECT_EQ(sums[PieceKind::host_call], 70 * kUs);
  EXPECT_EQ(sums[PieceKind::wake_up], 0u);
}

TEST(KnownSteps, AFreeThatReturnedBeforeTheGpuIsNoWait) {
  RecordedSteps recorded;
  for (std::uint32_t step = 0; step < 3; ++step) {
    const std::uint64_t at = std::uint64_t{step} * 1000;
    recorded.borders.push_back(2 * step);
    RecordedCall made{at, at + 10, 1, 0, 0, 0, 1, 1, step + 1, RecordedCallKind::launch, false};
    recorded.calls.push_back(made);
    made = {at + 20, at + 700, 0, 0, 0, 0, 1, 1, 0, RecordedCallKind::free_memory, false};
    recorded.calls.push_back(made);
    recorded.operations.push_back({at + 50, at + (step == 1 ? 900 : 600), 0, step + 1});
  }
  recorded.borders.push_back(6);
  const StepGraph graph = build_step_graph(recorded);
  std::vector<std::uint32_t> waits;
  for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
    for (const GraphEdge& edge : graph.edges_to(i))
      if (edge.kind == EdgeKind::host_wait) waits.push_back(graph.nodes[i].call);
  EXPECT_EQ(waits, (std::vector<std::uint32_t>{1, 5}));
}

// An operation without times keeps its place in the stream.
TEST(KnownSteps, AnOperationWithoutTimesStandsWhereItsStreamIs) {
  const Looked whole(
      program_of(1, {60 * kUs, 40 * kUs, 20 * kUs}, {launch(0, 0), launch(0, 1), launch(0, 2)}));
  RecordedSteps recorded = whole.recorded;
  for (RecordedOperation& operation : recorded.operations)
    if (operation.key == 1) operation.start_ns = operation.end_ns = 0;
  const StepGraph graph = build_step_graph(recorded);
  EXPECT_EQ(graph.refused.unknown_times, 5u);
  std::uint64_t before = 0;
  for (const GraphNode& node : graph.nodes) {
    if (is_host(node.kind)) continue;
    if (node.flags & kTimeUnknown) {
      EXPECT_EQ(node.start_ns, before);
      EXPECT_EQ(node.end_ns, before);
    }
    before = node.end_ns;
  }
  const CriticalPath path = critical_path(graph, 2);
  EXPECT_EQ(path.end_ns - path.start_ns, 120 * kUs);
  EXPECT_EQ(path.unexplained_ns, 40 * kUs);
}

// The step before did less. What follows what on a thread and in a stream is known all the same.
TEST(KnownSteps, TheStepBeforeMayBeOfAnotherKind) {
  const Looked whole(program_of(1, {10 * kUs}, {launch(0, 0, 30 * kUs), launch(0, 0, 20 * kUs)}));
  RecordedSteps recorded = whole.recorded;
  recorded.calls.erase(recorded.calls.begin() + 3);  // the last one of the second step
  recorded.operations.erase(recorded.operations.begin() + 3);
  for (std::size_t border = 2; border < recorded.borders.size(); ++border)
    --recorded.borders[border];
  const StepReplay replay = StepReplay::of(build_step_graph(recorded), 2).value();
  // 20 us more before the first call, for that is what was seen there.
  EXPECT_EQ(replay.base().step_ns, 56e3 + 23e3);
  EXPECT_EQ(replay.unmatched_edges(), 0u);
}

// The numbers of step_graph.h. What it takes is printed; CI looks at no clock.
TEST(KnownSteps, TwentyThousandLaunchesAStepFit) {
  Program program = program_of(2, {5 * kUs, 3 * kUs}, {});
  for (std::uint32_t i = 0; i < 20000; ++i) program.step.push_back(launch(i % 10 == 0, i % 2));
  const RecordedSteps recorded = execute(program, program.lengths, 4, 0, 3).recorded;
  const StepGraph graph = build_step_graph(recorded);
  EXPECT_EQ(sizeof(GraphNode), 40u);
  EXPECT_EQ(sizeof(GraphEdge), 16u);
  const std::size_t bytes =
      graph.nodes.size() * sizeof(GraphNode) + graph.edges.size() * sizeof(GraphEdge);
  EXPECT_LT(bytes, 3 * 2600000u);
  const StepReplay replay = StepReplay::of(graph, 1).value();
  EXPECT_TRUE(
      replay.saving(replay.without({.communication = true, .copies = true, .host_gaps = true}))
          .settled);
}

}  // namespace
}  // namespace gable

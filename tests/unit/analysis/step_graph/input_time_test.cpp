// SPDX-License-Identifier: Apache-2.0
// What would go wrong for a user: a data loader that holds every step looks like Python between
// launches, or one that the GPU never waits for is said to cost a part of the step.
#include "analysis/step_graph/input_time.h"

#include <gtest/gtest.h>

#include "analysis/step_graph/graph_builder.h"
#include "analysis/step_graph/step_replay.h"
#include "tests/unit/analysis/step_graph/executor.h"

namespace gable {
namespace {

using made_up::Instruction;
using made_up::Program;

constexpr std::uint64_t kMicrosecond = 1000;

TEST(InputTime, CountsEachMomentOfAThreadOnce) {
  const InputTime inputs({{100, 200, 1},
                          {150, 300, 1},
                          {300, 310, 1},
                          {400, 500, 1},
                          {100, 900, 2},
                          {700, 600, 1},
                          {650, 650, 1}});
  EXPECT_EQ(inputs.within(1, 0, 1000), 310u);
  EXPECT_EQ(inputs.within(1, 160, 260), 100u);
  EXPECT_EQ(inputs.within(1, 305, 401), 6u);
  EXPECT_EQ(inputs.within(1, 310, 400), 0u);
  EXPECT_EQ(inputs.within(1, 500, 1000), 0u);
  EXPECT_EQ(inputs.within(2, 850, 1000), 50u);
  EXPECT_EQ(inputs.within(3, 0, 1000), 0u);
  EXPECT_EQ(InputTime({}).within(1, 0, 1000), 0u);
}

// Steps of one kernel of 100 us, before whose launch the program does something else for 500 us;
// for 400 of these it fetches its input.
RecordedSteps fetching(bool waits, std::uint64_t kernel_ns) {
  Program program;
  program.streams.push_back({10, 1, false, true});
  program.lengths = {kernel_ns};
  program.stream_gap = 0;
  Instruction launch;
  launch.kind = RecordedCallKind::launch;
  launch.gap = 500 * kMicrosecond;
  launch.cost = 3 * kMicrosecond;
  program.step.push_back(launch);
  if (waits) {
    Instruction wait = launch;
    wait.kind = RecordedCallKind::stream_synchronize;
    wait.gap = kMicrosecond;
    program.step.push_back(wait);
  }
  RecordedSteps recorded = execute(program, program.lengths, 16, 10, 15).recorded;
  for (const RecordedCall& call : recorded.calls) {
    if (call.kind != RecordedCallKind::launch) continue;
    recorded.inputs.push_back(
        {call.enter_ns - 450 * kMicrosecond, call.enter_ns - 50 * kMicrosecond, call.thread});
  }
  return recorded;
}

SavingRange saving(const RecordedSteps& recorded, const StepReplay::Parts& parts) {
  const auto replay = StepReplay::of(build_step_graph(recorded), 2).value();
  return replay.saving(replay.without(parts));
}

TEST(InputTime, AStepThatWaitsForItsInputIsShorterByIt) {
  const RecordedSteps recorded = fetching(true, 100 * kMicrosecond);
  const SavingRange input = saving(recorded, {.input = true});
  EXPECT_EQ(input.low_ns, 4e5);
  EXPECT_EQ(input.high_ns, 4e5);
  // What else the host does between its calls would be 100 us more.
  EXPECT_EQ(saving(recorded, {.host_gaps = true}).high_ns, 5e5);
  EXPECT_EQ(saving(recorded, {.kernels = true, .input = true}).high_ns, 5e5);
}

TEST(InputTime, InputThatTheGpuDoesNotWaitForSavesNothing) {
  EXPECT_EQ(saving(fetching(false, 900 * kMicrosecond), {.input = true}).high_ns, 0);
}

// 500 us of the host and 900 of the GPU in a row, or side by side.
TEST(InputTime, WithoutItsWaitsTheHostRunsAhead) {
  const std::uint64_t kernel_ns = 900 * kMicrosecond;
  const auto base = [](const RecordedSteps& recorded) {
    return StepReplay::of(build_step_graph(recorded), 2).value().base().step_ns;
  };
  const RecordedSteps waiting = fetching(true, kernel_ns);
  const SavingRange without = saving(waiting, {.waits = true});
  EXPECT_TRUE(without.settled);
  EXPECT_EQ(without.low_ns, without.high_ns);
  EXPECT_EQ(base(waiting) - without.high_ns, base(fetching(false, kernel_ns)));
  EXPECT_GT(without.high_ns, 500 * kMicrosecond);
  // Where the host takes longer, kernels are what is saved.
  const RecordedSteps slow_host = fetching(true, 100 * kMicrosecond);
  EXPECT_NEAR(saving(slow_host, {.waits = true}).high_ns, 1e5, 1e4);
  EXPECT_EQ(saving(fetching(false, kernel_ns), {.waits = true}).high_ns, 0);
}

TEST(InputTime, AnotherThreadsInputIsNotThisOnes) {
  RecordedSteps recorded = fetching(true, 100 * kMicrosecond);
  for (InputWait& wait : recorded.inputs) ++wait.thread;
  EXPECT_EQ(saving(recorded, {.input = true}).high_ns, 0);
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What a record keeps of the calls and the work as the file has them.
#include <gtest/gtest.h>

#include "tools/calls/recorded_calls.h"

namespace gable {
namespace {

using Kind = RecordedCallKind;

TracedCall call(CallName what, std::uint64_t start_ns, std::uint64_t correlation,
                std::uint32_t thread = 1) {
  TracedCall made;
  made.what = what;
  made.start_ns = start_ns;
  made.duration_ns = 50;
  made.correlation = correlation;
  made.thread = thread;
  return made;
}

TracedOperation work(std::uint64_t start_ns, std::uint64_t end_ns, std::uint64_t correlation,
                     std::uint32_t context = 1, std::uint64_t stream = 7) {
  TracedOperation made;
  made.start_ns = start_ns;
  made.end_ns = end_ns;
  made.correlation = correlation;
  made.context = context;
  made.stream = stream;
  return made;
}

TEST(RecordedFacts, OfWorkAreKept) {
  TracedSteps steps;
  steps.starts = {0, 100'000};
  steps.calls = {call(CallName::copy, 1001, 5), call(CallName::launch, 2001, 6)};
  steps.calls[0].asynchronous = true;
  steps.operations = {work(10'003, 10'407, 5), work(20'001, 20'777, 6)};
  steps.operations[0].kind = OperationKind::copy;
  steps.operations[0].way = CopyWay::device_to_host;
  steps.operations[0].pageable = true;
  steps.operations[0].key = 3;
  steps.operations[0].graph_node = 44;  // of a call that launches no graph
  steps.work.resize(4);
  steps.inputs.resize(2);
  const StepRecord record = make_step_record(steps);
  EXPECT_EQ(record.work.size(), 4u);
  EXPECT_EQ(record.steps.inputs.size(), 2u);
  ASSERT_EQ(record.steps.operations.size(), 2u);
  const RecordedOperation& copy = record.steps.operations[0];
  EXPECT_EQ(copy.start_ns, 10'003u);
  EXPECT_EQ(copy.end_ns, 10'407u);
  EXPECT_EQ(copy.kind, OperationKind::copy);
  EXPECT_EQ(copy.way, CopyWay::device_to_host);
  EXPECT_TRUE(copy.pageable);
  EXPECT_TRUE(copy.asynchronous);
  EXPECT_EQ(copy.key, 3u);
  EXPECT_EQ(copy.graph_node, 0u);
  EXPECT_EQ(copy.correlation, 1u);
  const RecordedOperation& kernel = record.steps.operations[1];
  EXPECT_EQ(kernel.kind, OperationKind::kernel);
  EXPECT_EQ(kernel.way, CopyWay::none);
  EXPECT_FALSE(kernel.pageable);
  EXPECT_FALSE(kernel.asynchronous);
  EXPECT_EQ(kernel.key, 0u);
  EXPECT_EQ(kernel.correlation, 2u);
  ASSERT_EQ(record.steps.calls.size(), 2u);
  EXPECT_EQ(record.steps.calls[1].correlation, 2u);
  EXPECT_EQ(record.steps.calls[1].thread, 1u);
  EXPECT_EQ(record.steps.calls[1].enter_ns, 2001u);
  EXPECT_EQ(record.steps.calls[1].exit_ns, 2051u);
}

TEST(RecordedFacts, AThreadIsInTheFirstContextUntilItLaunches) {
  TracedSteps steps;
  steps.starts = {0, 100'000};
  steps.calls = {call(CallName::free_memory, 500, 0), call(CallName::launch, 1000, 5),
                 call(CallName::launch, 2000, 6), call(CallName::free_memory, 3000, 0),
                 call(CallName::free_memory, 4000, 0, 2)};
  steps.operations = {work(10'000, 10'100, 5, 3), work(20'000, 20'100, 6, 4)};
  const StepRecord record = make_step_record(steps);
  ASSERT_EQ(record.steps.calls.size(), 5u);
  for (const auto& [place, context] : {std::pair{0, 3u}, {1, 3u}, {2, 4u}, {3, 4u}, {4, 3u}})
    EXPECT_EQ(record.steps.calls[static_cast<std::size_t>(place)].context, context) << place;
  steps.operations.clear();
  EXPECT_EQ(make_step_record(steps).steps.calls[0].context, 0u) << "no work at all";
}

TEST(RecordedFacts, AGraphOfNodesWithoutNumbersNumbersThem) {
  TracedSteps steps;
  steps.starts = {0, 100'000};
  steps.calls = {call(CallName::graph_launch, 1000, 5)};
  steps.operations = {work(10'000, 10'100, 5), work(10'200, 10'300, 5), work(10'400, 10'500, 5)};
  steps.operations[1].graph_node = 9;
  const StepRecord record = make_step_record(steps);
  ASSERT_EQ(record.steps.graphs.size(), 1u);
  constexpr std::uint64_t kUnnamed = 9'223'372'036'854'775'808u;
  EXPECT_EQ(record.steps.graphs[0].nodes,
            (std::vector<std::uint64_t>{kUnnamed + 1, 9, kUnnamed + 3}));
  EXPECT_EQ(record.steps.calls[0].exec, 9u) << "the lowest";
  EXPECT_EQ(record.steps.calls[0].kind, Kind::graph_launch);
}

TEST(RecordedFacts, TimesThatOverlapByTwoMicrosecondsMayBeRounded) {
  for (const auto& [end_ns, blocks] : {std::pair{22'000u, true}, {22'001u, false}}) {
    TracedSteps steps;
    steps.starts = {0, 100'000};
    steps.calls = {call(CallName::launch, 1000, 5), call(CallName::launch, 2000, 6)};
    steps.operations = {work(20'000, 40'000, 5, 1, 7), work(10'000, end_ns, 6, 1, 9)};
    steps.streams = {{7, 1, true, false}};
    steps.others_block = true;
    const auto streams = make_step_record(steps).steps.streams;
    ASSERT_EQ(streams.size(), 2u);
    EXPECT_EQ(streams[1].stream, 9u);
    EXPECT_EQ(streams[1].non_blocking, !blocks) << end_ns;
  }
}

TEST(RecordedFacts, WorkIsLookedThroughInTheOrderOfItsTimes) {
  TracedSteps steps;
  steps.starts = {0, 100'000};
  for (const std::uint64_t number : {1u, 2u, 3u, 4u, 5u})
    steps.calls.push_back(call(CallName::launch, number * 1000, number));
  steps.operations = {work(70'000, 80'000, 1), work(40'000, 50'000, 2), work(10'000, 20'000, 3),
                      work(52'000, 53'000, 4, 1, 9), work(12'000, 19'000, 5, 1, 9)};
  steps.streams = {{7, 1, true, false}};
  steps.others_block = true;
  const auto streams = make_step_record(steps).steps.streams;
  ASSERT_EQ(streams.size(), 2u);
  EXPECT_TRUE(streams[1].non_blocking);
}

TEST(RecordedFacts, StreamsAreToldOnceAndOnlyWhereTheyWorked) {
  TracedSteps steps;
  steps.starts = {0, 100'000};
  steps.calls = {call(CallName::launch, 1000, 5)};
  steps.operations = {work(20'000, 40'000, 5)};
  steps.streams = {
      {9, 1, false, true}, {7, 2, false, true}, {7, 1, true, false}, {7, 1, false, true}};
  const auto streams = make_step_record(steps).steps.streams;
  ASSERT_EQ(streams.size(), 1u);
  EXPECT_EQ(streams[0].stream, 7u);
  EXPECT_EQ(streams[0].context, 1u);
  EXPECT_TRUE(streams[0].legacy);
  EXPECT_FALSE(streams[0].non_blocking);
}

}  // namespace
}  // namespace gable

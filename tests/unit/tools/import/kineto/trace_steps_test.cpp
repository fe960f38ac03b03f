// SPDX-License-Identifier: Apache-2.0
// Records of steps that a trace of PyTorch's profiler gives: its events as calls and operations.
#include <gtest/gtest.h>

#include "analysis/step_graph/graph_builder.h"
#include "tools/base/wrong_use.h"
#include "tools/import/kineto/kineto_trace.h"
#include "tools/import/records/imported.h"
#include "tools/streams/byte_source.h"

namespace gable {
namespace {

using Kind = RecordedCallKind;

class TraceSteps : public testing::Test {
 protected:
  void event(const std::string& category, const std::string& name, double start, double duration,
             const std::string& more = {}, int thread = 10) {
    events_ += (events_.empty() ? "" : ",\n") + std::string("{\"ph\": \"X\", \"cat\": \"") +
               category + "\", \"name\": \"" + name +
               "\", \"pid\": 1, \"tid\": " + std::to_string(thread) +
               ", \"ts\": " + std::to_string(start) + ", \"dur\": " + std::to_string(duration) +
               ", \"args\": {\"device\": 0, " + "\"context\": 1" +
               (more.empty() ? "" : ", " + more) + "}}";
  }
  static std::string id(int correlation, int stream) {
    return "\"correlation\": " + std::to_string(correlation) +
           ", \"stream\": " + std::to_string(stream);
  }
  void call(const std::string& name, double start, double duration, int correlation) {
    event("cuda_runtime", name, start, duration, "\"correlation\": " + std::to_string(correlation));
  }
  // One that computes on stream 7, and another that adds up on stream 20 behind it.
  void step(int number, const std::string& name = "ProfilerStep#") {
    const double at = 1000.0 * number;
    const int first = 100 * number;
    event("user_annotation", name + std::to_string(number), at, 990.5);
    call("cudaLaunchKernel", at + 10.125, 5, first);
    event("kernel", "gemm(float*)", at + 20.5, 100, id(first, 7));
    call("cudaEventRecord", at + 20, 1, first + 1);
    call("cudaStreamWaitEvent", at + 25, 1, first + 2);
    if (syncs)
      event("cuda_sync", "Stream Wait Event", at + 25, 1,
            id(first + 2, 20) + ", \"wait_on_stream\": 7, \"wait_on_cuda_event_record_corr_id\": " +
                std::to_string(resolved ? first + 1 : -1));
    call("cudaLaunchKernel", at + 30, 5, first + 3);
    event("kernel", "ncclDevKernel_AllReduce_Sum", at + 121, 50, id(first + 3, 20));
    call("cudaMemcpyAsync", at + 40, 5, first + 4);
    event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", at + 175, 5, id(first + 4, 20));
    call("cudaStreamSynchronize", at + 50, 135, first + 5);
    if (syncs) event("cuda_sync", "Stream Sync", at + 50, 135, id(first + 5, 20));
    call("cudaDeviceSynchronize", at + 190, 5, first + 6);
  }
  Imported& read(int steps) {
    for (int i = 1; i <= steps; ++i) step(i);
    return read();
  }
  Imported& read() {
    const std::string text = "{\"traceEvents\": [" + events_ + "]}";
    TextSource source(text, "trace.json");
    read_kineto_trace(source, imported);
    return imported;
  }
  bool syncs = true, resolved = true;
  Imported imported;

 private:
  std::string events_;
};

TEST_F(TraceSteps, CallsAndOperations) {
  Imported& made = read(3);
  ASSERT_EQ(made.step_records.size(), 1u);
  const StepRecord& record = made.step_records[0];
  const RecordedSteps& steps = record.steps;
  EXPECT_EQ(steps.borders, (std::vector<std::uint32_t>{0, 7, 14, 21}));
  std::vector<Kind> kinds;
  for (std::size_t i = 0; i < 7; ++i) kinds.push_back(steps.calls[i].kind);
  EXPECT_EQ(kinds,
            (std::vector{Kind::launch, Kind::event_record, Kind::stream_wait, Kind::launch,
                         Kind::launch, Kind::stream_synchronize, Kind::context_synchronize}));
  EXPECT_EQ(steps.calls[0].enter_ns, 1'010'125u);
  EXPECT_EQ(steps.calls[0].exit_ns, 1'015'125u);
  EXPECT_EQ(steps.calls[2].stream, 20u);
  EXPECT_EQ(steps.calls[5].stream, 20u);
  EXPECT_TRUE(record.stream_waits_known);
  EXPECT_EQ(record.jitter_ns, 0u);
  ASSERT_EQ(steps.operations.size(), 9u);
  EXPECT_EQ(steps.operations[0].kind, OperationKind::kernel);
  EXPECT_EQ(steps.operations[1].kind, OperationKind::collective);
  const RecordedOperation& copy = steps.operations[2];
  EXPECT_EQ(copy.kind, OperationKind::copy);
  EXPECT_EQ(copy.way, CopyWay::device_to_host);
  EXPECT_TRUE(copy.pageable);
  EXPECT_TRUE(copy.asynchronous);
  EXPECT_EQ(steps.operations[0].key, steps.operations[3].key);
  const RecordedWork& work = record.work[steps.operations[0].key];
  EXPECT_TRUE(work.kernel);
  EXPECT_EQ(work.key, launch_key(made, *made.kernels.first()));
  EXPECT_FALSE(record.work[copy.key].kernel);
  const auto legacy = std::find_if(steps.streams.begin(), steps.streams.end(),
                                   [](const auto& s) { return s.legacy; });
  ASSERT_NE(legacy, steps.streams.end());
  EXPECT_EQ(legacy->stream, 7u);
}

TEST_F(TraceSteps, TheGraphOfThemHoldsTogether) {
  const StepGraph graph = build_step_graph(read(3).step_records.at(0).steps);
  EXPECT_EQ(graph.refused, RefusedInput{});
  for (const std::uint32_t violated : graph.violated) EXPECT_EQ(violated, 0u);
  EXPECT_EQ(graph.steps.size(), 3u);
}

TEST_F(TraceSteps, WithoutSynchronisationRecordsWaitsAreNotKnown) {
  syncs = false;
  const StepRecord& record = read(3).step_records.at(0);
  EXPECT_EQ(record.steps.calls[2].kind, Kind::other);
  // Of the copy just before.
  EXPECT_EQ(record.steps.calls[5].kind, Kind::stream_synchronize);
  EXPECT_FALSE(record.stream_waits_known);
}

TEST_F(TraceSteps, ARecordThatIsNotResolvedNamesNone) {
  resolved = false;
  const StepRecord& record = read(3).step_records.at(0);
  EXPECT_EQ(record.steps.calls[2].kind, Kind::other);
  EXPECT_FALSE(record.stream_waits_known);
}

TEST_F(TraceSteps, SaysWhenInputWasFetched) {
  for (int i = 1; i <= 3; ++i) {
    step(i);
    event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
          1000 * i + 1, 8);
    event("cpu_op", "aten::stack", 1000 * i + 2, 3);
  }
  const RecordedSteps& steps = read().step_records.at(0).steps;
  ASSERT_EQ(steps.inputs.size(), 3u);
  for (const InputWait& wait : steps.inputs) {
    EXPECT_EQ(wait.end_ns - wait.start_ns, 8000u);
    EXPECT_EQ(wait.thread, steps.calls.front().thread);
  }
}

TEST_F(TraceSteps, TwoStepsAreTooFew) { EXPECT_TRUE(read(2).step_records.empty()); }

TEST_F(TraceSteps, OfManyStepsThreePlaces) {
  const Imported& made = read(9);
  ASSERT_EQ(made.step_records.size(), 3u);
  EXPECT_EQ(made.step_records[0].steps.calls[0].enter_ns, 2'010'125u);
  EXPECT_EQ(made.step_records[2].steps.calls[0].enter_ns, 7'010'125u);
}

TEST_F(TraceSteps, CallsBetweenStepsBelongToTheOneBefore) {
  call("cudaMalloc", 1995, 2, 999);
  call("cudaMalloc", 4995, 2, 998);
  const Imported& made = read(5);
  ASSERT_EQ(made.step_records.size(), 2u);
  // The steps 2 to 4, and 3 to 5.
  EXPECT_EQ(made.step_records[0].steps.borders, (std::vector<std::uint32_t>{0, 7, 14, 22}));
  EXPECT_EQ(made.step_records[1].steps.borders, (std::vector<std::uint32_t>{0, 7, 15, 22}));
}

TEST_F(TraceSteps, RangesThatTheUserNamesAreStepsInstead) {
  imported.step_range = "^batch";
  for (int i = 1; i <= 3; ++i) step(i, "batch ");
  event("user_annotation", "ProfilerStep#1", 1000, 9000);
  Imported& made = read();
  EXPECT_EQ(made.steps.size(), 3u);
  EXPECT_EQ(made.step_records.size(), 1u);
  EXPECT_EQ(made.layers.node(made.kernels.first()->layer).name, "batch #");
}

TEST_F(TraceSteps, ANameThatNoRangeHasIsRefusedWithThoseThatThereAre) {
  imported.step_range = "^epoch";
  for (int i = 1; i <= 3; ++i) step(i, "batch ");
  try {
    read();
    FAIL();
  } catch (const WrongUse& wrong) {
    EXPECT_STREQ(wrong.what(),
                 "trace.json has no range that --step-range ^epoch names: take one of its ranges, "
                 "such as batch #.");
  }
}

}  // namespace
}  // namespace gable

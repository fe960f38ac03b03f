// SPDX-License-Identifier: Apache-2.0
// What would go wrong for a user: a call that orders the program's streams and is not in the record
// of its step, or one of another step that is. Then the report says that the step waits for
// something else than it does.
#include "collector/session/step_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "analysis/profile/profile_state.h"
#include "tests/unit/collector/script/run_on_script.h"

namespace gable {
namespace {

using Kind = RecordedCallKind;
constexpr char kThreeTimes[] = "--phases time --wait 0 --warmup 0 --active 3";

template <typename Handle>
Handle an_address(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

// Calls as the driver would tell of them.
class Calls {
 public:
  explicit Calls(RunOnScript& run) : run_(run) {}

  template <typename Params>
  void call(CUpti_CallbackId id, const Params& params, CUresult result = CUDA_SUCCESS) {
    CUpti_CallbackData data{};
    data.functionParams = &params;
    data.functionReturnValue = &result;
    data.contextUid = 1;
    data.correlationId = ++correlation_;
    for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
      data.callbackSite = site;
      Callbacks::entry(&run_.callbacks, CUPTI_CB_DOMAIN_DRIVER_API, id, &data);
    }
  }
  void record(std::uintptr_t event, std::uintptr_t stream = 0) {
    call(CUPTI_DRIVER_TRACE_CBID_cuEventRecord,
         cuEventRecord_params{an_address<CUevent>(event), an_address<CUstream>(stream)});
  }
  void wait(std::uintptr_t event, std::uintptr_t stream) {
    call(CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent,
         cuStreamWaitEvent_params{an_address<CUstream>(stream), an_address<CUevent>(event), 0});
  }
  void query(std::uintptr_t event, CUresult result) {
    call(CUPTI_DRIVER_TRACE_CBID_cuEventQuery, cuEventQuery_params{an_address<CUevent>(event)},
         result);
  }
  void make_stream(std::uintptr_t stream) {
    auto made = an_address<CUstream>(stream);
    call(CUPTI_DRIVER_TRACE_CBID_cuStreamCreateWithPriority,
         cuStreamCreateWithPriority_params{&made, CU_STREAM_NON_BLOCKING, 0});
  }

 private:
  RunOnScript& run_;
  std::uint32_t correlation_ = 1'000'000;
};

std::vector<StepRecord> records_of(RunOnScript& run) {
  (void)run.report();
  return run.c.sink.with_profile([](Profile& profile) {
    profile.finish_records();
    return profile.state().step_records;
  });
}

std::vector<Kind> kinds_of(const StepRecord& record, std::size_t step) {
  std::vector<Kind> kinds;
  for (auto i = record.steps.borders[step]; i < record.steps.borders[step + 1]; ++i)
    kinds.push_back(record.steps.calls[i].kind);
  return kinds;
}

TEST(StepCallPath, AStepHasItsCallsInTheirOrder) {
  RunOnScript run(kThreeTimes);
  Calls calls(run);
  run.step({"first"});
  calls.make_stream(0x5000);
  for (int i = 0; i < 4; ++i) {
    run.launch("gemm");
    calls.record(0xe000);
    calls.wait(0xe000, 0x5000);
    calls.query(0xe000, CUDA_ERROR_NOT_READY);
    calls.query(0xe000, CUDA_SUCCESS);
    run.c.windows.step_point();
  }
  const auto records = records_of(run);
  ASSERT_EQ(records.size(), 1u);
  const auto& record = records.front();
  for (std::size_t step = 0; step < 3; ++step)
    EXPECT_EQ(kinds_of(record, step),
              (std::vector<Kind>{Kind::launch, Kind::event_record, Kind::stream_wait,
                                 Kind::query_not_ready, Kind::query_succeeded}));
  EXPECT_EQ(record.steps.operations.size(), 3u);
  for (const auto& call : record.steps.calls) {
    EXPECT_LT(call.enter_ns, call.exit_ns);
    EXPECT_EQ(call.event, call.kind == Kind::launch ? 0u : 0xe000u);
    EXPECT_EQ(call.stream == 0x5000u, call.kind == Kind::stream_wait);
  }
  ASSERT_EQ(record.steps.streams.size(), 2u);
  EXPECT_TRUE(record.steps.streams.front().legacy);
  EXPECT_TRUE(record.steps.streams.back().non_blocking);
  ASSERT_EQ(record.work.size(), 1u);
  EXPECT_EQ(run.rt.functions.symbol(record.work.front().key.function), "gemm");
}

// Nothing is recorded where a step waits, warms up or counts, nor where no step is known.
TEST(StepCallPath, OnlyTimeWindowsOfStepsAreRecorded) {
  for (const char* options : {"--phases time --wait 5 --active 3", "--phases flops --active 5",
                              "--phases time --window 2 --wait 0 --warmup 0 --active 5"}) {
    RunOnScript run(options);
    Calls calls(run);
    const bool steps = std::string(options).find("--window") == std::string::npos;
    for (int i = 0; i < 5; ++i) {
      run.launch("gemm");
      calls.record(0xe000);
      EXPECT_EQ(this_thread().call.window, kNoWindow);
      EXPECT_EQ(run.rt.hot.call_window.load(), kNoWindow) << options;
      if (steps) run.c.windows.step_point();
    }
    EXPECT_TRUE(records_of(run).empty()) << options;
  }
}

// The optimizer's calls, say, behind the range that is the step.
TEST(StepCallPath, WhatIsBetweenStepsIsRecordedWithTheStepBefore) {
  RunOnScript run(std::string(kThreeTimes) + " --step-range ^step$");
  Calls calls(run);
  for (int i = 0; i < 4; ++i) {
    run.push("step");
    run.launch("gemm");
    run.pop();
    run.launch("between");
    calls.record(0xe000);
  }
  const auto records = records_of(run);
  ASSERT_EQ(records.size(), 1u);
  for (std::size_t step = 0; step < 2; ++step)
    EXPECT_EQ(kinds_of(records.front(), step),
              (std::vector<Kind>{Kind::launch, Kind::launch, Kind::event_record}));
  EXPECT_EQ(kinds_of(records.front(), 2), (std::vector<Kind>{Kind::launch}));
  EXPECT_EQ(records.front().steps.operations.size(), 5u);
}

TEST(StepCallPath, WhatAStreamCapturesIsNoCall) {
  RunOnScript run(kThreeTimes);
  Calls calls(run);
  run.step({"first"});
  for (int i = 0; i < 4; ++i) {
    run.launch("gemm");
    run.call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUPTI_API_ENTER);
    calls.record(0xe000);
    run.call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUPTI_API_EXIT);
    run.c.windows.step_point();
  }
  const auto records = records_of(run);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(kinds_of(records.front(), 1), (std::vector<Kind>{Kind::launch}));
}

TEST(StepCallPath, ThreadsAreTold) {
  RunOnScript run(kThreeTimes);
  Calls calls(run);
  run.step({"first"});
  for (int i = 0; i < 4; ++i) {
    run.launch("gemm");
    std::thread([&] { calls.record(0xe000); }).join();
    run.c.windows.step_point();
  }
  const auto records = records_of(run);
  ASSERT_EQ(records.size(), 1u);
  std::vector<std::uint32_t> threads;
  for (const auto& call : records.front().steps.calls)
    if (call.kind == Kind::event_record) threads.push_back(call.thread);
  for (const auto& call : records.front().steps.calls)
    if (call.kind == Kind::launch) {
      EXPECT_EQ(std::count(threads.begin(), threads.end(), call.thread), 0);
    }
  // Each was another thread, though they used the same place after one another.
  std::sort(threads.begin(), threads.end());
  EXPECT_EQ(std::unique(threads.begin(), threads.end()) - threads.begin(), 3);
}

// What CUPTI does out of a call of ours is not the program's.
TEST(StepCallPath, CallsOfOursAreNone) {
  RunOnScript run(kThreeTimes);
  Calls calls(run);
  run.step({"first"});
  for (int i = 0; i < 4; ++i) {
    run.launch("gemm");
    this_thread().busy = true;
    calls.record(0xe000);
    this_thread().busy = false;
    run.c.windows.step_point();
  }
  const auto records = records_of(run);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records.front().steps.calls.size(), 3u);
}

TEST(StepCallPath, StepsThatAreTooLargeAreSaidAndCostNoMore) {
  RunOnScript run(kThreeTimes);
  Calls calls(run);
  run.step({"first"});
  run.launch("gemm");
  for (std::size_t i = 0; i < StepRecorder::kMostCalls; ++i) calls.record(0xe000);
  run.c.sink.drain();
  EXPECT_FALSE(run.c.sink.takes_calls());
  const auto before = run.c.sink.progress().events;
  calls.record(0xe000);
  run.c.sink.drain();
  EXPECT_EQ(run.c.sink.progress().events, before);
  EXPECT_TRUE(run.c.sink.with_profile(
      [](Profile& profile) { return profile.state().step_recorder.too_large() > 0; }));
}

// A data loader's __next__, as the Python side tells of it.
TEST(StepCallPath, AStepSaysWhenItsInputWasFetched) {
  RunOnScript run(kThreeTimes);
  StepCalls path(run.c);
  EXPECT_FALSE(path.begin_input());  // nothing is recorded yet
  run.step({"first"});
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(path.begin_input());
    EXPECT_FALSE(path.begin_input());  // one within it
    path.end_input();
    path.end_input();
    run.launch("gemm");
    run.c.windows.step_point();
  }
  const auto records = records_of(run);
  ASSERT_EQ(records.size(), 1u);
  const RecordedSteps& steps = records.front().steps;
  ASSERT_EQ(steps.inputs.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const RecordedCall& launch = steps.calls[steps.borders[i]];
    EXPECT_LT(steps.inputs[i].start_ns, steps.inputs[i].end_ns);
    EXPECT_LE(steps.inputs[i].end_ns, launch.enter_ns);
    EXPECT_EQ(steps.inputs[i].thread, launch.thread);
    if (i > 0) {
      EXPECT_GE(steps.inputs[i].start_ns, steps.calls[steps.borders[i] - 1].exit_ns);
    }
  }
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Streams wait for each other as on a GPU, never less: a profiler that believes in a wait that is
// none would find its mistake here.
#include "tests/unit/playback/playback_test.h"

namespace gable::playback {
namespace {

constexpr float kKernelMs = 0.005F;  // of the one in gpu.jsonl

class Streams : public PlaybackTest {
 protected:
  void SetUp() override {
    PlaybackTest::SetUp();
    ASSERT_EQ(cuStreamCreate(&first_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&second_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&blocking_, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  }
  static CUevent event() {
    CUevent made = nullptr;
    EXPECT_EQ(cuEventCreate(&made, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    return made;
  }
  static CUevent recorded(CUstream stream) {
    const auto made = event();
    EXPECT_EQ(cuEventRecord(made, stream), CUDA_SUCCESS);
    return made;
  }
  // From the end of one kernel to the end of another.
  static float between(CUevent from, CUevent to) {
    float ms = -1;
    EXPECT_EQ(cuEventElapsedTime(&ms, from, to), CUDA_SUCCESS);
    return ms;
  }
  void busy(CUstream stream, int kernels = 10) {
    for (int i = 0; i < kernels; ++i) ASSERT_EQ(launch(stream), CUDA_SUCCESS);
  }

  CUstream first_ = nullptr, second_ = nullptr, blocking_ = nullptr;
};

TEST_F(Streams, WhatFollowsAWaitRunsAfterTheEvent) {
  busy(first_);
  const auto end = recorded(first_);
  ASSERT_EQ(cuStreamWaitEvent(second_, end, 0), CUDA_SUCCESS);
  busy(second_, 1);
  EXPECT_FLOAT_EQ(between(end, recorded(second_)), kKernelMs);
}

TEST_F(Streams, AnEventIsThePositionOfItsLastRecord) {
  busy(first_);
  const auto waited = recorded(first_), same = recorded(first_);
  ASSERT_EQ(cuStreamWaitEvent(second_, waited, 0), CUDA_SUCCESS);
  busy(first_);
  ASSERT_EQ(cuEventRecord(waited, first_), CUDA_SUCCESS);  // too late for the wait
  busy(second_, 1);
  EXPECT_FLOAT_EQ(between(same, recorded(second_)), kKernelMs);
  ASSERT_EQ(cuStreamWaitEvent(second_, waited, 0), CUDA_SUCCESS);
  busy(second_, 1);
  EXPECT_FLOAT_EQ(between(waited, recorded(second_)), kKernelMs);
}

TEST_F(Streams, AnEventThatWasNeverRecordedIsNoWait) {
  busy(first_);
  ASSERT_EQ(cuStreamWaitEvent(second_, event(), 0), CUDA_SUCCESS);
  busy(second_, 1);
  EXPECT_LT(between(recorded(first_), recorded(second_)), 0);
}

TEST_F(Streams, QueriesSucceedOnceTheWorkIsDone) {
  EXPECT_EQ(cuStreamQuery(first_), CUDA_SUCCESS);
  busy(first_);
  const auto end = recorded(first_);
  EXPECT_EQ(cuStreamQuery(first_), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventQuery(end), CUDA_ERROR_NOT_READY);
  int polls = 0;
  while (cuStreamQuery(first_) == CUDA_ERROR_NOT_READY && polls < 1000) ++polls;
  EXPECT_LT(polls, 1000);
  EXPECT_EQ(cuEventQuery(end), CUDA_SUCCESS);
}

TEST_F(Streams, TheLegacyStreamAndBlockingOnesWaitForEachOther) {
  busy(blocking_);
  const auto blocking = recorded(blocking_);
  busy(nullptr, 1);
  const auto legacy = recorded(nullptr);
  EXPECT_FLOAT_EQ(between(blocking, legacy), kKernelMs);
  busy(nullptr);
  const auto again = recorded(nullptr);
  busy(blocking_, 1);
  EXPECT_FLOAT_EQ(between(again, recorded(blocking_)), kKernelMs);
  busy(first_, 1);
  EXPECT_LT(between(again, recorded(first_)), kKernelMs) << "non-blocking";
  busy(CU_STREAM_PER_THREAD, 1);
  EXPECT_GE(between(again, recorded(CU_STREAM_PER_THREAD)), kKernelMs);
}

TEST_F(Streams, CapturesAndTheOthersDoNotMix) {
  const auto outside = recorded(second_);
  ASSERT_EQ(cuStreamBeginCapture(first_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(first_, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(cuStreamQuery(first_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  const auto inside = recorded(first_);
  EXPECT_EQ(cuStreamWaitEvent(first_, inside, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(second_, inside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamEndCapture(first_, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

}  // namespace
}  // namespace gable::playback

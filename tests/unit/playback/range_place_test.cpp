// SPDX-License-Identifier: Apache-2.0
// Where the range profiler's calls are made: context, thread, callback, capture.
#include <thread>

#include "playback_test.h"

namespace gable::playback {
namespace {

using RangePlace = PlaybackTest;

TEST_F(RangePlace, NoContextIsCurrent) {
  Ranges ranges(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.make_images(kHardware), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.set_config(), CUPTI_SUCCESS);
  cuCtxSetCurrent(nullptr);
  EXPECT_EQ(ranges.start(), CUPTI_SUCCESS);
  expect_broken("cuptiRangeProfilerStart was called on a thread with no current context");
  Ranges other(nullptr);
  EXPECT_EQ(other.enable(), CUPTI_ERROR_INVALID_CONTEXT);
  expect_broken("cuptiRangeProfilerEnable was called on a thread with no current context");
  cuCtxSetCurrent(context_);
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

TEST_F(RangePlace, AnotherContextIsCurrent) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  CUcontext primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  cuCtxSetCurrent(primary);
  EXPECT_EQ(ranges.push("0"), CUPTI_SUCCESS);
  expect_broken("cuptiRangeProfilerPushRange was called while another context was current");
  cuCtxSetCurrent(context_);
  ranges.pop();
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
  cuDevicePrimaryCtxRelease(0);
}

TEST_F(RangePlace, TheContextIsDestroyedWhileItCounts) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  CUcontext gone = context_;
  ASSERT_EQ(cuCtxDestroy(gone), CUDA_SUCCESS);
  expect_broken("a context was destroyed between Start and Stop of its range profiler");
  EXPECT_EQ(ranges.stop(), CUPTI_ERROR_INVALID_CONTEXT);
  expect_broken("cuptiRangeProfilerStop was called for a destroyed context");
  Ranges again(gone);
  EXPECT_EQ(again.enable(), CUPTI_ERROR_INVALID_CONTEXT);
  expect_broken("cuptiRangeProfilerEnable was called for a destroyed context");
  std::uint32_t device = 0;
  EXPECT_EQ(cuptiGetDeviceId(gone, &device), CUPTI_ERROR_INVALID_CONTEXT);
  expect_broken("cuptiGetDeviceId was called with a destroyed context");
  static_cast<void>(ranges.disable());
  static_cast<void>(broken());
  context_ = nullptr;
}

TEST_F(RangePlace, EveryCallWhileAStreamCaptures) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ranges.push("0");
  expect_broken("cuptiRangeProfilerPushRange was called while a stream captures");
  ranges.pop();
  expect_broken("cuptiRangeProfilerPopRange was called while a stream captures");
  ranges.stop();
  expect_broken("cuptiRangeProfilerStop was called while a stream captures");
  ranges.decode();
  expect_broken("cuptiRangeProfilerDecodeData was called while a stream captures");
  ranges.set_config();
  expect_broken("cuptiRangeProfilerSetConfig was called while a stream captures");
  ranges.start();
  expect_broken("cuptiRangeProfilerStart was called while a stream captures");
  ranges.stop();
  Ranges::initialize();
  expect_broken("cuptiProfilerInitialize was called while a stream captures");
  cuptiActivityFlushAll(0);
  expect_broken("cuptiActivityFlushAll was called while a stream captures");
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  expect_broken("cuptiActivityEnable was called while a stream captures");
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  expect_broken("cuptiActivityDisable was called while a stream captures");
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  cuGraphDestroy(graph);
}

TEST_F(RangePlace, CaptureWhileRangesAreAutomatic) {
  Ranges ranges(context_);
  ranges.begin(kHardware, CUPTI_AutoRange);
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(launch(stream), CUDA_SUCCESS);
  expect_broken("a stream captured a launch while automatic ranges were on");
  CUgraph graph = nullptr;
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS);
  cuGraphDestroy(graph);
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

TEST_F(RangePlace, KernelActivityBesideCounters) {
  ASSERT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
  flip("engine_start", "keeps_activity");
  Ranges ranges(context_);
  ranges.begin(kHardware);
  expect_broken("cuptiRangeProfilerStart was called while kernel activity is enabled");
  cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
  expect_broken("cuptiActivityEnable of kernels was called while counters are armed");
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

TEST_F(RangePlace, AFlushWhileCountersAreArmedSilencesTheSubscriber) {
  int heard = 0;
  subscribe([&](CUpti_CallbackDomain, CUpti_CallbackId, const void*) { ++heard; });
  listen(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
  launch();
  EXPECT_EQ(heard, 2);
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
  expect_broken("cuptiActivityFlushAll was called while counters are armed");
  launch();
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

}  // namespace
}  // namespace gable::playback

// SPDX-License-Identifier: Apache-2.0
// Activity records: their rules, and the faults that concern them.
#include <cstdlib>
#include <mutex>
#include <thread>

#include "playback_test.h"
#include "tools/playback/driver/side.h"

namespace gable::playback {
namespace {

struct Received {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> kernels, copies;
};

std::mutex g_client_lock;  // a lock of the profiler's, taken in the buffer callback
std::function<void()> g_in_request;
Received g_received;
std::size_t g_buffer_size = 65536;
std::size_t g_misaligned = 0;

void CUPTIAPI requested(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  if (g_in_request) g_in_request();
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, g_buffer_size + 64)) + g_misaligned;
  *size = g_buffer_size;
  *records = 0;
}

void CUPTIAPI completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                        std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      g_received.kernels.emplace_back(kernel->start, kernel->end);
    } else {
      const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
      g_received.copies.emplace_back(copy->start, copy->end);
    }
  }
  std::free(buffer - g_misaligned);
}

class Activity : public PlaybackTest {
 protected:
  void SetUp() override {
    PlaybackTest::SetUp();
    g_received = {};
    g_in_request = nullptr;
    g_buffer_size = 65536;
    g_misaligned = 0;
    ASSERT_EQ(cuptiActivityRegisterCallbacks(requested, completed), CUPTI_SUCCESS);
    ASSERT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
    ASSERT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), CUPTI_SUCCESS);
    std::size_t dropped = 0;
    cuptiActivityFlushAll(1);
    cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
    g_received = {};
  }
};

TEST_F(Activity, RecordsHaveTheTimesOfTheRecording) {
  launch();
  launch();
  cuCtxSynchronize();
  EXPECT_EQ(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
  ASSERT_EQ(g_received.kernels.size(), 2u);
  EXPECT_EQ(g_received.kernels[0].second - g_received.kernels[0].first, 5000u);
  EXPECT_EQ(g_received.kernels[1].first, g_received.kernels[0].second);
}

TEST_F(Activity, WhatStillRunsComesWithoutTimesWhenForced) {
  launch();
  EXPECT_EQ(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
  EXPECT_EQ(g_received.kernels.size(), 0u);
  EXPECT_EQ(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), CUPTI_SUCCESS);
  ASSERT_EQ(g_received.kernels.size(), 1u);
  EXPECT_EQ(g_received.kernels[0].second, 0u);
}

TEST_F(Activity, FlushInAResourceCallback) {
  CUptiResult answer = CUPTI_SUCCESS;
  subscribe([&](CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
    answer = cuptiActivityFlushAll(0);
  });
  listen(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
  CUmodule module = nullptr;
  cuModuleLoadData(&module, "");
  EXPECT_EQ(answer, CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiActivityFlushAll was called inside a resource callback");
}

TEST_F(Activity, FlushInADriverCallbackIsAllowed) {
  CUptiResult answer = CUPTI_ERROR_UNKNOWN;
  subscribe([&](CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
    answer = cuptiActivityFlushAll(0);
  });
  listen(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize);
  cuCtxSynchronize();
  EXPECT_EQ(answer, CUPTI_SUCCESS);
}

TEST_F(Activity, FlushInABufferCallback) {
  CUptiResult answer = CUPTI_SUCCESS;
  g_in_request = [&] { answer = cuptiActivityFlushAll(0); };
  launch();
  EXPECT_EQ(answer, CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiActivityFlushAll was called inside a buffer callback");
}

TEST_F(Activity, ProfilerCallsInABufferCallback) {
  Ranges counting(context_), late(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(counting.enable(), CUPTI_SUCCESS);
  ASSERT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
  CUptiResult answer = CUPTI_SUCCESS;
  g_in_request = [&] {
    EXPECT_EQ(counting.make_images(kHardware), CUPTI_SUCCESS);
    answer = late.enable();
  };
  launch();
  EXPECT_EQ(answer, CUPTI_ERROR_INVALID_OPERATION);
  const std::string said = broken();
  EXPECT_NE(said.find("GetCounterDataSize was called inside a buffer callback"), std::string::npos)
      << said;
  EXPECT_NE(said.find("cuptiRangeProfilerEnable was called inside a buffer callback"),
            std::string::npos)
      << said;
}

TEST_F(Activity, AskingForDroppedRecordsUnderALockOfTheBufferCallback) {
  std::atomic<bool> in_request{false};
  g_in_request = [&] {
    in_request = true;
    const std::lock_guard<std::mutex> lock(g_client_lock);
  };
  CUptiResult answer = CUPTI_SUCCESS;
  std::unique_lock<std::mutex> lock(g_client_lock);
  std::thread launcher([&] {
    cuCtxSetCurrent(context_);
    launch();
  });
  while (!in_request) std::this_thread::yield();
  std::size_t dropped = 0;
  answer = cuptiActivityGetNumDroppedRecords(context_, 0, &dropped);
  lock.unlock();
  launcher.join();
  EXPECT_EQ(answer, CUPTI_ERROR_UNKNOWN);
  expect_broken("cuptiActivityGetNumDroppedRecords waited for a buffer callback");
}

TEST_F(Activity, BuffersThatAreTooSmallOrNotAligned) {
  g_buffer_size = 512;
  launch();
  expect_broken("an activity buffer is too small for records");
  g_buffer_size = 65536;
  g_misaligned = 4;
  launch();
  expect_broken("an activity buffer is not aligned to 8 bytes");
}

TEST_F(Activity, AnEngineStartDropsTheKinds) {
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  launch();
  cuCtxSynchronize();
  cuptiActivityFlushAll(0);
  EXPECT_EQ(g_received.kernels.size(), 0u);
  cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  launch();
  cuCtxSynchronize();
  cuptiActivityFlushAll(0);
  EXPECT_EQ(g_received.kernels.size(), 1u);
}

TEST_F(Activity, EngineStartAndEndBySwitch) {
  flip("engine_start", "keeps_activity");
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  launch();
  flip("engine_end", "resets_activity");
  Ranges ranges(context_);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.disable(), CUPTI_SUCCESS);
  launch();
  cuCtxSynchronize();
  cuptiActivityFlushAll(0);
  EXPECT_EQ(g_received.kernels.size(), 1u);
}

TEST_F(Activity, AttributesAfterTheFirstContext) {
  std::size_t size = sizeof(std::size_t), value = 1 << 20;
  EXPECT_EQ(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value),
            CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiActivitySetAttribute was called after the first context");
}

TEST_F(Activity, ATimestampCallbackMakesZeros) {
  EXPECT_EQ(cuptiActivityRegisterTimestampCallback([]() -> std::uint64_t { return 1; }),
            CUPTI_SUCCESS);
  expect_broken("cuptiActivityRegisterTimestampCallback was called");
  launch();
  cuCtxSynchronize();
  cuptiActivityFlushAll(0);
  ASSERT_EQ(g_received.kernels.size(), 1u);
  EXPECT_EQ(g_received.kernels[0].second, 0u);
  auto& control = gable_playback_gpu()->control();
  RecordedFault end;  // of the zeros, for the tests that follow in this process
  end.fault = Fault::zero_timestamps;
  end.count = static_cast<std::uint64_t>(1 - (1LL << 62));
  control.add(end);
}

TEST_F(Activity, FinalizeElsewhereThanAtTheExitOfACall) {
  EXPECT_EQ(cuptiFinalize(), CUPTI_SUCCESS);
  expect_broken("cuptiFinalize was called elsewhere than at the EXIT of a driver call");
  subscribe([&](CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
    if (static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_EXIT)
      cuptiFinalize();
  });
  listen(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize);
  cuCtxSynchronize();
}

TEST_F(Activity, LostRecordsAreCounted) {
  fault(R"({"fault":"lose_records","count":2})");
  for (int i = 0; i < 3; ++i) launch();
  cuCtxSynchronize();
  cuptiActivityFlushAll(0);
  EXPECT_EQ(g_received.kernels.size(), 1u);
  std::size_t dropped = 0;
  EXPECT_EQ(cuptiActivityGetNumDroppedRecords(context_, 0, &dropped), CUPTI_SUCCESS);
  EXPECT_EQ(dropped, 2u);
  EXPECT_EQ(cuptiActivityGetNumDroppedRecords(context_, 0, &dropped), CUPTI_SUCCESS);
  EXPECT_EQ(dropped, 0u);
}

TEST_F(Activity, ZeroTimestamps) {
  fault(R"({"fault":"zero_timestamps","count":1})");
  cuMemcpyDtoDAsync(0, 0, 64, nullptr);
  launch();
  launch();
  cuCtxSynchronize();
  cuptiActivityFlushAll(0);
  ASSERT_EQ(g_received.copies.size(), 1u);
  EXPECT_GT(g_received.copies[0].second, 0u);  // only kernels lose theirs
  ASSERT_EQ(g_received.kernels.size(), 2u);
  EXPECT_EQ(g_received.kernels[0].first, 0u);
  EXPECT_EQ(g_received.kernels[0].second, 0u);
  EXPECT_GT(g_received.kernels[1].second, g_received.kernels[1].first);
}

TEST_F(Activity, SilentRecordsBySwitch) {
  flip("kernel_records", "silent");
  launch();
  cuMemcpyDtoDAsync(0, 0, 64, nullptr);
  cuCtxSynchronize();
  cuptiActivityFlushAll(0);
  EXPECT_EQ(g_received.kernels.size(), 0u);
  EXPECT_EQ(g_received.copies.size(), 1u);
  std::size_t dropped = 0;
  cuptiActivityGetNumDroppedRecords(context_, 0, &dropped);
  EXPECT_EQ(dropped, 0u);
}

TEST_F(Activity, AnotherToolTakesTheBufferCallbacks) {
  static int others = 0;
  cuptiActivityRegisterCallbacks(
      requested, [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
        ++others;
        std::free(buffer);
      });
  launch();
  cuCtxSynchronize();
  cuptiActivityFlushAll(0);
  EXPECT_EQ(others, 1);
  EXPECT_EQ(g_received.kernels.size(), 0u);
}

}  // namespace
}  // namespace gable::playback

// SPDX-License-Identifier: Apache-2.0
// Where CUPTI's releases differ, or GPUs are harsher than its documentation: both answers.
#include <cupti_target.h>
#include <cstddef>

#include <cstdlib>
#include <new>

#include "playback_test.h"

namespace gable::playback {
namespace {

class Releases : public PlaybackTest {};

TEST_F(Releases, TooManyRanges) {
  const CUptiResult no = CUPTI_ERROR_INVALID_OPERATION;
  Ranges ranges(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  flip("second_config", "allowed");
  flip("range_limit", "size_2000");
  EXPECT_EQ(ranges.make_images(kHardware, 2000), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.make_images(kHardware, 2001), no);
  flip("range_limit", "config_2000");
  EXPECT_EQ(ranges.make_images(kHardware, 2001), CUPTI_SUCCESS);
  ranges.wish.maxRangesPerPass = 2001;
  EXPECT_EQ(ranges.set_config(), no);
  flip("range_limit", "start_2000");
  EXPECT_EQ(ranges.set_config(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.start(), no);
  ranges.wish.maxRangesPerPass = 2000;
  EXPECT_EQ(ranges.set_config(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.start(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

TEST_F(Releases, KindsOfRangesAreRefused) {
  for (const auto mode : {CUPTI_UserRange, CUPTI_AutoRange}) {
    const auto other = mode == CUPTI_UserRange ? CUPTI_AutoRange : CUPTI_UserRange;
    flip(mode == CUPTI_UserRange ? "user_ranges" : "auto_ranges", "refused");
    Ranges ranges(context_);
    ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
    ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
    ASSERT_EQ(ranges.make_images(kHardware), CUPTI_SUCCESS);
    EXPECT_EQ(ranges.set_config(mode), CUPTI_ERROR_INVALID_OPERATION);
    EXPECT_EQ(ranges.set_config(other), CUPTI_SUCCESS);
    flip("user_ranges", "own_launch");
    flip("auto_ranges", "counted");
  }
}

TEST_F(Releases, KindsOfCountersAreRefused) {
  for (const bool hardware : {true, false}) {
    flip("counter_kinds", hardware ? "hardware" : "sass");
    Ranges ranges(context_);
    ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
    ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
    ASSERT_EQ(ranges.make_images(hardware ? kSass : kHardware), CUPTI_SUCCESS);
    EXPECT_EQ(ranges.set_config(), CUPTI_ERROR_INVALID_OPERATION);
    ASSERT_EQ(ranges.make_images(hardware ? kHardware : kSass), CUPTI_SUCCESS);
    EXPECT_EQ(ranges.set_config(), CUPTI_SUCCESS);
  }
}

TEST_F(Releases, RangesMayCountNothing) {
  flip("user_ranges", "several_launches");
  Ranges ranges(context_);
  ranges.begin(kHardware);
  ranges.push("0");
  launch();
  ranges.pop();
  ranges.push("1");
  launch();
  launch();
  ranges.pop();
  ranges.stop();
  ranges.decode();
  EXPECT_EQ(ranges.value(0, "sm__ctas_launched.sum"), 0);
  EXPECT_EQ(ranges.value(1, "sm__ctas_launched.sum"), 16);
  ASSERT_EQ(ranges.disable(), CUPTI_SUCCESS);
  flip("auto_ranges", "uncounted");
  Ranges automatic(context_);
  automatic.begin(kHardware, CUPTI_AutoRange);
  launch();
  automatic.stop();
  automatic.decode();
  EXPECT_EQ(automatic.value(0, "sm__ctas_launched.sum"), 0);
}

TEST_F(Releases, UserRangesMayLastLongerThanTheirKernels) {
  double exact = 0;
  for (const bool longer : {false, true}) {
    flip("user_range_time", longer ? "longer" : "exact");
    Ranges ranges(context_);
    ranges.begin(kHardware);
    ranges.push("0");
    launch();
    ranges.pop();
    ranges.stop();
    ranges.decode();
    const double time = ranges.value(0, "gpu__time_duration.sum");
    if (!longer) exact = time;
    EXPECT_DOUBLE_EQ(time, longer ? exact + 64000 : exact);
  }
  EXPECT_GT(exact, 0);
}

TEST_F(Releases, StartMayLoadAModule) {
  for (const bool loads : {false, true}) {
    flip("start_modules", loads ? "loaded" : "none");
    Ranges ranges(context_);
    int told = 0;
    subscribe([&](CUpti_CallbackDomain, CUpti_CallbackId, const void*) { ++told; });
    listen(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
    ranges.begin(kHardware);
    EXPECT_EQ(told, loads ? 1 : 0);
    EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
    cuptiUnsubscribe(subscriber_);
    subscriber_ = nullptr;
  }
}

TEST_F(Releases, ReleasesTakeTheSizesOfTheirStructures) {
  struct Played {
    const char* release;
    std::size_t host, enable, supported;  // the largest that is taken
  };
  for (const auto& [release, host, enable, supported] :
       {Played{"12.6", 48, 32, 52}, Played{"12.8", 48, 32, 52}, Played{"12.9", 48, 32, 52},
        Played{"13.0", 48, 32, 52}, Played{"13.1", 48, 32, 56}, Played{"13.2", 56, 32, 56},
        Played{"13.3", 56, 32, 56}, Played{"13.4", 56, 36, 56}, Played{"13.5", 56, 36, 56}}) {
    flip("cupti", release);
    for (const std::size_t size : {48, 52, 56, 60}) {
      alignas(std::max_align_t) std::uint8_t bytes[64] = {};
      auto& params = *new (bytes) CUpti_Profiler_DeviceSupported_Params{};
      params.structSize = size;
      const bool fits = size == 52 || (size > 52 && size <= supported);
      EXPECT_EQ(cuptiProfilerDeviceSupported(&params) == CUPTI_SUCCESS, fits) << release << size;
      if (!fits) expect_broken("cuptiProfilerDeviceSupported got a structSize");
    }
    for (const std::size_t size : {40, 48, 56, 64}) {
      alignas(std::max_align_t) std::uint8_t bytes[64] = {};
      auto& params = *new (bytes) CUpti_Profiler_Host_Initialize_Params{};
      params.structSize = size;
      params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
      params.pChipName = "GH100";
      const bool fits = size == 48 || (size > 48 && size <= host);
      EXPECT_EQ(cuptiProfilerHostInitialize(&params) == CUPTI_SUCCESS, fits) << release << size;
      if (!fits) expect_broken("cuptiProfilerHostInitialize got a structSize");
    }
    ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
    for (const std::size_t size : {28, 32, 36, 40}) {
      alignas(std::max_align_t) std::uint8_t bytes[64] = {};
      auto& params = *new (bytes) CUpti_RangeProfiler_Enable_Params{};
      params.structSize = size;
      params.ctx = context_;
      const bool fits = size == 32 || (size > 32 && size <= enable);
      EXPECT_EQ(cuptiRangeProfilerEnable(&params) == CUPTI_SUCCESS, fits) << release << size;
      if (!fits) {
        expect_broken("cuptiRangeProfilerEnable got a structSize");
        continue;
      }
      PLAYBACK_PARAMS(CUpti_RangeProfiler_Disable, end);
      end.pRangeProfilerObject = params.pRangeProfilerObject;
      EXPECT_EQ(cuptiRangeProfilerDisable(&end), CUPTI_SUCCESS);
    }
  }
}

TEST_F(Releases, ReleasesTellTheirVersion) {
  // As NVIDIA's libraries of 12.6 to 13.1 answer, and as CUPTI_API_VERSION is in later headers.
  const std::pair<const char*, std::uint32_t> told[] = {
      {"12.6", 24},     {"12.8", 26},     {"12.9", 28},     {"13.0", 130001}, {"13.1", 130101},
      {"13.2", 130202}, {"13.3", 130301}, {"13.4", 130401}, {"13.5", 130500}};
  for (const auto& [release, expected] : told) {
    std::uint32_t version = 0;
    flip("cupti", release);
    EXPECT_EQ(cuptiGetVersion(&version), CUPTI_SUCCESS);
    EXPECT_EQ(version, expected) << release;
  }
}

TEST_F(Releases, ADriverThatIsOlderThanCupti) {
  setenv("GABLE_PLAYBACK_DRIVER", "12080", 1);
  const auto nothing = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {};
  CUpti_SubscriberHandle handle = nullptr;
  EXPECT_EQ(cuptiSubscribe(&handle, nothing, nullptr), CUPTI_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(Ranges::initialize(), CUPTI_ERROR_NOT_INITIALIZED);
  flip("cupti", "12.9");
  EXPECT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  flip("cupti", "13.5");
  flip("older_driver", "accepted");
  EXPECT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  unsetenv("GABLE_PLAYBACK_DRIVER");
}

// In a process of its own, in which nothing has started CUPTI. That of 13.0 and 13.1 ends it.
TEST_F(Releases, AChipIsAskedForBeforeTheStart) {
  PLAYBACK_PARAMS(CUpti_Device_GetChipName, params);
  for (const auto& [release, answer] :
       {std::pair("12.6", CUPTI_ERROR_NOT_INITIALIZED), std::pair("13.5", CUPTI_ERROR_UNKNOWN)}) {
    flip("cupti", release);
    const auto code = cuptiDeviceGetChipName(&params);
    if (code == CUPTI_SUCCESS) GTEST_SKIP() << "another test of this process has started CUPTI";
    EXPECT_EQ(code, answer);
    expect_broken("cuptiDeviceGetChipName was called before CUPTI was started");
  }
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiDeviceGetChipName(&params), CUPTI_SUCCESS);
}

}  // namespace
}  // namespace gable::playback

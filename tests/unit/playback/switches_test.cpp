// SPDX-License-Identifier: Apache-2.0
// The range profiler's switches and faults: both answers of each question.
#include <cmath>

#include "playback_test.h"

namespace gable::playback {
namespace {

class Switches : public PlaybackTest {
 protected:
  // Two launches in ranges "0" and "1", read back; the number of ranges.
  std::size_t two_ranges(Ranges& ranges) {
    for (const char* name : {"0", "1"}) {
      EXPECT_EQ(ranges.push(name), CUPTI_SUCCESS);
      launch();
      EXPECT_EQ(ranges.pop(), CUPTI_SUCCESS);
    }
    EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
    EXPECT_EQ(ranges.decode(&dropped_), CUPTI_SUCCESS);
    return ranges.count();
  }
  std::size_t dropped_ = 0;
};

TEST_F(Switches, RangeOrder) {
  Ranges ranges(context_);
  flip("range_order", "reversed");
  ranges.begin(kHardware);
  ASSERT_EQ(two_ranges(ranges), 2u);
  EXPECT_EQ(ranges.name(0), "1");
}

TEST_F(Switches, RangesOfOneName) {
  for (const bool merged : {true, false}) {
    flip("same_name_ranges", merged ? "merged" : "separate");
    Ranges ranges(context_);
    ranges.begin(kHardware);
    for (int i = 0; i < 2; ++i) {
      ranges.push("same");
      launch();
      ranges.pop();
    }
    ranges.stop();
    ranges.decode();
    EXPECT_EQ(ranges.count(), merged ? 1u : 2u);
    EXPECT_EQ(ranges.value(0, "sm__ctas_launched.sum"), merged ? 16 : 8);
  }
}

TEST_F(Switches, OverlappingRangesCountEachOther) {
  flip("user_ranges", "overlapping");
  Ranges ranges(context_);
  ranges.begin(kHardware);
  CUstream stream = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  ranges.push("0");
  launch();
  ranges.pop();
  ranges.push("1");
  launch(stream);
  ranges.pop();
  ranges.stop();
  ranges.decode();
  EXPECT_EQ(ranges.value(0, "sm__ctas_launched.sum"), 16);
  EXPECT_EQ(ranges.value(1, "sm__ctas_launched.sum"), 16);
}

TEST_F(Switches, LaunchesOfOtherThreads) {
  for (const bool all : {true, false}) {
    flip("ranged_threads", all ? "all" : "starter");
    Ranges ranges(context_);
    ranges.begin(kHardware, CUPTI_AutoRange);
    launch();
    elsewhere([&] { launch(); });
    ranges.stop();
    ranges.decode();
    EXPECT_EQ(ranges.count(), all ? 2u : 1u);
  }
}

TEST_F(Switches, CopiesInAutomaticRanges) {
  for (const bool ranged : {false, true}) {
    flip("copies_in_auto_ranges", ranged ? "ranged" : "none");
    Ranges ranges(context_);
    ranges.begin(kHardware, CUPTI_AutoRange);
    cuMemcpyDtoDAsync(0, 0, 64, nullptr);
    launch();
    ranges.stop();
    ranges.decode();
    EXPECT_EQ(ranges.count(), ranged ? 2u : 1u);
  }
}

TEST_F(Switches, GraphsInAutomaticRanges) {
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  launch(stream);
  cuStreamEndCapture(stream, &graph);
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  for (const bool ranged : {false, true}) {
    flip("graphs_in_auto_ranges", ranged ? "ranged" : "dropped");
    Ranges ranges(context_);
    ranges.begin(kHardware, CUPTI_AutoRange);
    cuGraphLaunch(exec, stream);
    ranges.stop();
    std::size_t dropped = 0;
    ranges.decode(&dropped);
    EXPECT_EQ(ranges.count(), ranged ? 1u : 0u);
    EXPECT_EQ(dropped, ranged ? 0u : 1u);
  }
  for (const bool ranged : {false, true}) {
    flip("graphs_in_replay", ranged ? "ranged" : "none");
    Ranges ranges(context_);
    ranges.wish.replayMode = CUPTI_KernelReplay;
    ranges.begin(kHardware, CUPTI_AutoRange);
    cuGraphLaunch(exec, stream);
    EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
    std::size_t dropped = 0;
    ranges.decode(&dropped);
    EXPECT_EQ(ranges.count(), ranged ? 1u : 0u);
    EXPECT_EQ(dropped, 0u);
  }
  flip("graphs_in_auto_ranges", "fail_stop");
  Ranges ranges(context_);
  ranges.begin(kHardware, CUPTI_AutoRange);
  cuGraphLaunch(exec, stream);
  EXPECT_EQ(ranges.stop(), CUPTI_ERROR_UNKNOWN);
  EXPECT_EQ(ranges.disable(), CUPTI_SUCCESS);
  expect_broken("cuptiRangeProfilerDisable was called between Start and Stop");
}

TEST_F(Switches, CaptureInAWindow) {
  flip("capture_in_window", "drops_ranges");
  Ranges ranges(context_);
  ranges.begin(kHardware);
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
  cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  launch(stream);
  cuStreamEndCapture(stream, &graph);
  EXPECT_EQ(two_ranges(ranges), 2u);
  EXPECT_EQ(dropped_, 1u);
}

TEST_F(Switches, ModulesThatAreLoadedAfterEnable) {
  for (const bool patched : {true, false}) {
    flip("late_modules", patched ? "patched" : "unpatched");
    Ranges ranges(context_);
    ranges.begin(kSass);
    CUmodule late = nullptr;
    cuModuleLoadData(&late, "");
    CUfunction kernel = nullptr;
    cuModuleGetFunction(&kernel, late, "work");
    ranges.push("0");
    cuLaunchKernel(kernel, 8, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr);
    ranges.pop();
    ranges.push("1");
    launch();
    ranges.pop();
    ranges.stop();
    ranges.decode();
    EXPECT_EQ(ranges.value(0, kSass[0]), patched ? 32768 : 0);
    EXPECT_EQ(ranges.value(1, kSass[0]), 32768);
  }
}

TEST_F(Switches, ASecondConfigurationOfOneObject) {
  for (const char* answer : {"ignored", "allowed", "refused"}) {
    flip("second_config", answer);
    Ranges ranges(context_);
    ranges.begin(kHardware);
    ASSERT_EQ(two_ranges(ranges), 2u);
    EXPECT_EQ(ranges.set_config(),
              std::string(answer) == "refused" ? CUPTI_ERROR_INVALID_OPERATION : CUPTI_SUCCESS);
  }
}

TEST_F(Switches, WithTheFirstConfigurationNothingElseIsCounted) {
  std::vector<std::uint8_t> config, image;  // in use until the object is disabled
  Ranges ranges(context_);
  ranges.begin(kHardware);
  ASSERT_EQ(two_ranges(ranges), 2u);
  EXPECT_EQ(ranges.value(0, kHardware[1]), 8);
  config = std::move(ranges.config);
  image = std::move(ranges.image);
  ASSERT_EQ(ranges.make_images(kSass), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.set_config(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.start(), CUPTI_SUCCESS);
  ASSERT_EQ(two_ranges(ranges), 2u);
  EXPECT_TRUE(std::isnan(ranges.value(0, kSass[0])));
}

TEST_F(Switches, TargetNestingLevel) {
  Ranges ranges(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.make_images(kHardware), CUPTI_SUCCESS);
  flip("target_level", "zero");
  EXPECT_EQ(ranges.set_config(), CUPTI_SUCCESS);
  flip("target_level", "minimum");
  EXPECT_EQ(ranges.set_config(), CUPTI_ERROR_INVALID_PARAMETER);
  ranges.wish.targetNestingLevel = 1;
  EXPECT_EQ(ranges.set_config(), CUPTI_SUCCESS);
}

TEST_F(Switches, ObjectsOfTwoContexts) {
  CUcontext primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  {
    Ranges first(context_), second(primary), third(primary);
    ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
    ASSERT_EQ(first.enable(), CUPTI_SUCCESS);
    flip("profiler_objects", "one");
    EXPECT_EQ(second.enable(), CUPTI_ERROR_HARDWARE_BUSY);
    flip("profiler_objects", "one_per_context");
    EXPECT_EQ(third.enable(), CUPTI_SUCCESS);
  }
  cuDevicePrimaryCtxRelease(0);
}

TEST_F(Switches, StartInsideADriverCallback) {
  Ranges ranges(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.make_images(kHardware), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.set_config(), CUPTI_SUCCESS);
  CUptiResult answer = CUPTI_SUCCESS;
  subscribe([&](CUpti_CallbackDomain, CUpti_CallbackId, const void*) { answer = ranges.start(); });
  listen(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize);
  flip("start_in_callback", "refused");
  cuCtxSynchronize();
  EXPECT_EQ(answer, CUPTI_ERROR_INVALID_OPERATION);
}

TEST_F(Switches, StopOnAnotherThread) {
  for (const bool any : {true, false}) {
    flip("stop_thread", any ? "any" : "starter");
    Ranges ranges(context_);
    ranges.begin(kHardware);
    CUptiResult answer = CUPTI_SUCCESS;
    elsewhere([&] { answer = ranges.stop(); });
    EXPECT_EQ(answer, any ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION);
    if (!any) {
      EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
    }
  }
}

TEST_F(Switches, CallsWithoutTheContextCurrent) {
  for (const bool any : {true, false}) {
    flip("current_context", any ? "any" : "own");
    Ranges ranges(context_);
    ranges.begin(kHardware);
    cuCtxSetCurrent(nullptr);
    EXPECT_EQ(ranges.stop(), any ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_CONTEXT);
    cuCtxSetCurrent(context_);
    if (!any) {
      EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
    }
  }
}

TEST_F(Switches, ActivityBesideCountersMayWork) {
  flip("activity_with_counters", "works");
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

TEST_F(Switches, DroppedRangesAndWrongCtas) {
  fault(R"({"fault":"wrong_ctas","count":1})");
  fault(R"({"fault":"drop_ranges","count":1})");
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(two_ranges(ranges), 1u);
  EXPECT_EQ(dropped_, 1u);
  EXPECT_EQ(ranges.value(0, "sm__ctas_launched.sum"), 9);
}

TEST_F(Switches, MoreRangesThanWereAskedFor) {
  for (const bool counted : {false, true}) {
    flip("range_overflow", counted ? "counted" : "silent");
    Ranges ranges(context_);
    ranges.begin(kHardware);
    for (int i = 0; i < 20; ++i) {
      ranges.push(std::to_string(i).c_str());
      launch();
      ranges.pop();
    }
    ranges.stop();
    std::size_t dropped = 0;
    ranges.decode(&dropped);
    EXPECT_EQ(ranges.count(), 16u);
    EXPECT_EQ(dropped, counted ? 4u : 0u);
  }
}

// Last of all: a permission that is missing stays so in this process.
TEST_F(Switches, ZPermission) {
  fault(R"({"fault":"no_permission"})");
  const CUptiResult no = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  Ranges ranges(context_);
  flip("permission_asked_at", "initialize");
  EXPECT_EQ(Ranges::initialize(), no);
  flip("permission_asked_at", "enable");
  EXPECT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.enable(), no);
  flip("permission_asked_at", "set_config");
  EXPECT_EQ(ranges.enable(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.make_images(kSass), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.set_config(), no);
  flip("sass_permission", "not_needed");
  EXPECT_EQ(ranges.set_config(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.disable(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.enable(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.make_images(kHardware), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.set_config(), no);
}

}  // namespace
}  // namespace gable::playback

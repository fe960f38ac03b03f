// SPDX-License-Identifier: Apache-2.0
// The order of the range profiler's calls, and the lifetimes of its images.
#include "playback_test.h"

namespace gable::playback {
namespace {

using RangeOrder = PlaybackTest;

TEST_F(RangeOrder, TheRightOrderBreaksNothingAndCounts) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  for (const char* name : {"0", "1"}) {
    EXPECT_EQ(ranges.push(name), CUPTI_SUCCESS);
    EXPECT_EQ(launch(), CUDA_SUCCESS);
    EXPECT_EQ(ranges.pop(), CUPTI_SUCCESS);
  }
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.decode(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.count(), 2u);
  EXPECT_EQ(ranges.name(1), "1");
  EXPECT_EQ(ranges.value(1, "dram__sectors_read.sum"), 2000);
  EXPECT_EQ(ranges.value(1, "sm__ctas_launched.sum"), 8);
  EXPECT_EQ(ranges.value(1, "gpu__time_duration.sum"), 5000 + 64000);
  EXPECT_EQ(ranges.disable(), CUPTI_SUCCESS);
}

TEST_F(RangeOrder, EnableTwiceForOneContext) {
  Ranges first(context_), second(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(first.enable(), CUPTI_SUCCESS);
  EXPECT_EQ(second.enable(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiRangeProfilerEnable was called twice for one context");
}

TEST_F(RangeOrder, StartBeforeSetConfig) {
  Ranges ranges(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.start(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiRangeProfilerStart was called before cuptiRangeProfilerSetConfig");
}

TEST_F(RangeOrder, StartTwice) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(ranges.start(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiRangeProfilerStart was called twice without a Stop");
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

TEST_F(RangeOrder, StopWithoutStart) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.stop(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiRangeProfilerStop was called without a Start");
}

TEST_F(RangeOrder, DecodeBeforeStop) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(ranges.decode(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiRangeProfilerDecodeData was called before a Stop");
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

TEST_F(RangeOrder, SetConfigBetweenStartAndStop) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(ranges.set_config(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiRangeProfilerSetConfig was called between Start and Stop");
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

TEST_F(RangeOrder, DisableBetweenStartAndStop) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(ranges.disable(), CUPTI_SUCCESS);
  expect_broken("cuptiRangeProfilerDisable was called between Start and Stop");
}

TEST_F(RangeOrder, AnObjectIsUsedAfterDisable) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
  auto* const kept = ranges.object;
  EXPECT_EQ(ranges.disable(), CUPTI_SUCCESS);
  ranges.object = kept;
  EXPECT_EQ(ranges.decode(), CUPTI_ERROR_INVALID_PARAMETER);
  expect_broken("range profiler object that is not enabled (any more)");
  ranges.object = nullptr;
}

TEST_F(RangeOrder, PushAndPopAreNotBalanced) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(ranges.pop(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiRangeProfilerPopRange was called with no range open");
  EXPECT_EQ(ranges.push("0"), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.push("1"), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("deeper than the nesting levels that were configured");
  EXPECT_EQ(ranges.stop(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiRangeProfilerStop was called while a range was open");
  EXPECT_EQ(ranges.pop(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.push("2"), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiRangeProfilerPushRange was called without a Start");
}

TEST_F(RangeOrder, PushWhileRangesAreAutomatic) {
  Ranges ranges(context_);
  ranges.begin(kHardware, CUPTI_AutoRange);
  EXPECT_EQ(ranges.push("0"), CUPTI_ERROR_INVALID_OPERATION);
  EXPECT_EQ(ranges.pop(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiRangeProfilerPushRange was called while ranges are automatic");
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

TEST_F(RangeOrder, MoreThanOnePass) {
  Ranges ranges(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.make_images({"dram__sectors_read.sum", kSass[0]}), CUPTI_SUCCESS);
  EXPECT_EQ(ranges.set_config(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("with a configuration of more than one pass");
}

TEST_F(RangeOrder, ConfigurationsThatNeedMoreThanOneRun) {
  Ranges ranges(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.make_images(kHardware), CUPTI_SUCCESS);
  ranges.wish.numNestingLevels = 2;
  EXPECT_EQ(ranges.set_config(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("with more than one nesting level");
  ranges.wish.numNestingLevels = 1;
  ranges.wish.replayMode = CUPTI_KernelReplay;
  EXPECT_EQ(ranges.set_config(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("with kernel replay and user ranges");
}

TEST_F(RangeOrder, TheConfigurationOfAnotherChip) {
  Ranges ranges(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.make_images(kHardware), CUPTI_SUCCESS);
  ranges.config = Ranges::config_for(kHardware, "GA100");
  EXPECT_EQ(ranges.set_config(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("with the configuration of another chip");
}

TEST_F(RangeOrder, AnImageForOtherMetricsOrNone) {
  Ranges ranges(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.make_images(kSass), CUPTI_SUCCESS);
  ranges.config = Ranges::config_for(kHardware);
  EXPECT_EQ(ranges.set_config(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("with a counter image that was made for other metrics");
  ranges.image.assign(ranges.image.size(), 0);
  EXPECT_EQ(ranges.set_config(), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("with a counter image that was not initialized");
}

TEST_F(RangeOrder, AnImageOfASizeThatWasNotAsked) {
  Ranges ranges(context_);
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.enable(), CUPTI_SUCCESS);
  ASSERT_EQ(ranges.make_images(kHardware), CUPTI_SUCCESS);
  PLAYBACK_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, params);
  params.pRangeProfilerObject = ranges.object;
  params.counterDataSize = ranges.image.size() - 8;
  params.pCounterData = ranges.image.data();
  EXPECT_EQ(cuptiRangeProfilerCounterDataImageInitialize(&params), CUPTI_ERROR_INVALID_PARAMETER);
  expect_broken("a counter image was initialized with another size");
  PLAYBACK_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size);
  const char* metric = "dram__sectors_read.sum";
  size.pRangeProfilerObject = ranges.object;
  size.pMetricNames = &metric;
  size.numMetrics = 1;
  size.maxNumOfRanges = 16;
  size.maxNumRangeTreeNodes = 15;
  EXPECT_EQ(cuptiRangeProfilerGetCounterDataSize(&size), CUPTI_ERROR_INVALID_PARAMETER);
  expect_broken("maxNumRangeTreeNodes is smaller than maxNumOfRanges");
}

TEST_F(RangeOrder, TheCounterImageIsInitializedWhileItCounts) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  PLAYBACK_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, params);
  params.pRangeProfilerObject = ranges.object;
  params.counterDataSize = ranges.image.size();
  params.pCounterData = ranges.image.data();
  EXPECT_EQ(cuptiRangeProfilerCounterDataImageInitialize(&params), CUPTI_SUCCESS);
  expect_broken("the counter image was initialized again between Start and Stop");
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
}

TEST_F(RangeOrder, AnImageIsFreedBeforeDisable) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  ranges.config.assign(ranges.config.size(), 0xdd);  // as a freed block that somebody else took
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
  expect_broken("the configuration image was changed or freed before cuptiRangeProfilerDisable");
  EXPECT_EQ(ranges.disable(), CUPTI_SUCCESS);
  static_cast<void>(broken());
}

TEST_F(RangeOrder, TheImageOfAnEarlierConfigurationIsFreed) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  EXPECT_EQ(ranges.stop(), CUPTI_SUCCESS);
  auto old = std::move(ranges.image);
  ASSERT_EQ(ranges.make_images(kSass), CUPTI_SUCCESS);
  static_cast<void>(broken());
  old.assign(old.size(), 0xdd);
  EXPECT_EQ(ranges.set_config(), CUPTI_SUCCESS);
  expect_broken("the counter image was changed or freed before cuptiRangeProfilerDisable");
  EXPECT_EQ(ranges.disable(), CUPTI_SUCCESS);
  static_cast<void>(broken());
}

TEST_F(RangeOrder, AMetricIsEvaluatedThatWasNotCollected) {
  Ranges ranges(context_);
  ranges.begin(kHardware);
  ranges.push("0");
  launch();
  ranges.pop();
  ranges.stop();
  ranges.decode();
  EXPECT_NE(ranges.value(0, kSass[0]), ranges.value(0, kSass[0]));  // NaN
  expect_broken("was evaluated but not collected");
}

TEST_F(RangeOrder, ARejectedMetricSpoilsTheHostObject) {
  PLAYBACK_PARAMS(CUpti_Profiler_Host_Initialize, host);
  host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  host.pChipName = "GH100";
  ASSERT_EQ(cuptiProfilerHostInitialize(&host), CUPTI_SUCCESS);
  PLAYBACK_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add);
  const char* wrong = "no__such_metric.sum";
  add.pHostObject = host.pHostObject;
  add.ppMetricNames = &wrong;
  add.numMetrics = 1;
  EXPECT_EQ(cuptiProfilerHostConfigAddMetrics(&add), CUPTI_ERROR_INVALID_METRIC_NAME);
  const char* right = "dram__sectors_read.sum";
  add.ppMetricNames = &right;
  EXPECT_EQ(cuptiProfilerHostConfigAddMetrics(&add), CUPTI_ERROR_UNKNOWN);
  PLAYBACK_PARAMS(CUpti_Profiler_Host_Deinitialize, end);
  end.pHostObject = host.pHostObject;
  EXPECT_EQ(cuptiProfilerHostDeinitialize(&end), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiProfilerHostDeinitialize(&end), CUPTI_ERROR_INVALID_PARAMETER);
  expect_broken("profiler host object that does not exist (any more)");
}

TEST_F(RangeOrder, AStructWithoutItsSize) {
  CUpti_Profiler_Initialize_Params params{};
  EXPECT_EQ(cuptiProfilerInitialize(&params), CUPTI_ERROR_INVALID_PARAMETER);
  expect_broken("structSize that is not that of its struct");
}

TEST_F(RangeOrder, TheEngineIsEndedTwice) {
  ASSERT_EQ(Ranges::initialize(), CUPTI_SUCCESS);
  PLAYBACK_PARAMS(CUpti_Profiler_DeInitialize, params);
  EXPECT_EQ(cuptiProfilerDeInitialize(&params), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiProfilerDeInitialize(&params), CUPTI_ERROR_INVALID_OPERATION);
  expect_broken("cuptiProfilerDeInitialize was called without a cuptiProfilerInitialize before it");
  Ranges ranges(context_);
  EXPECT_EQ(ranges.enable(), CUPTI_ERROR_NOT_INITIALIZED);
  expect_broken("cuptiRangeProfilerEnable was called before cuptiProfilerInitialize");
}

}  // namespace
}  // namespace gable::playback

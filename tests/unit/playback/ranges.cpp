// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdlib>

#include "playback_test.h"

namespace gable::playback {

Ranges::~Ranges() {
  if (object != nullptr) static_cast<void>(disable());
}

std::vector<std::uint8_t> Ranges::config_for(const std::vector<const char*>& metrics,
                                             const char* chip) {
  PLAYBACK_PARAMS(CUpti_Profiler_Host_Initialize, host);
  host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  host.pChipName = chip;
  EXPECT_EQ(cuptiProfilerHostInitialize(&host), CUPTI_SUCCESS);
  PLAYBACK_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add);
  add.pHostObject = host.pHostObject;
  add.ppMetricNames = const_cast<const char**>(metrics.data());
  add.numMetrics = metrics.size();
  EXPECT_EQ(cuptiProfilerHostConfigAddMetrics(&add), CUPTI_SUCCESS);
  PLAYBACK_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
  size.pHostObject = host.pHostObject;
  EXPECT_EQ(cuptiProfilerHostGetConfigImageSize(&size), CUPTI_SUCCESS);
  std::vector<std::uint8_t> made(size.configImageSize);
  PLAYBACK_PARAMS(CUpti_Profiler_Host_GetConfigImage, get);
  get.pHostObject = host.pHostObject;
  get.pConfigImage = made.data();
  get.configImageSize = made.size();
  EXPECT_EQ(cuptiProfilerHostGetConfigImage(&get), CUPTI_SUCCESS);
  PLAYBACK_PARAMS(CUpti_Profiler_Host_Deinitialize, end);
  end.pHostObject = host.pHostObject;
  EXPECT_EQ(cuptiProfilerHostDeinitialize(&end), CUPTI_SUCCESS);
  return made;
}

CUptiResult Ranges::initialize() {
  PLAYBACK_PARAMS(CUpti_Profiler_Initialize, params);
  return cuptiProfilerInitialize(&params);
}

CUptiResult Ranges::enable() {
  PLAYBACK_PARAMS(CUpti_RangeProfiler_Enable, params);
  params.ctx = context_;
  const CUptiResult result = cuptiRangeProfilerEnable(&params);
  if (result == CUPTI_SUCCESS) object = params.pRangeProfilerObject;
  return result;
}

CUptiResult Ranges::disable() {
  PLAYBACK_PARAMS(CUpti_RangeProfiler_Disable, params);
  params.pRangeProfilerObject = object;
  object = nullptr;
  return cuptiRangeProfilerDisable(&params);
}

CUptiResult Ranges::make_images(const std::vector<const char*>& metrics, std::size_t ranges) {
  config = config_for(metrics);
  PLAYBACK_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size);
  size.pRangeProfilerObject = object;
  size.pMetricNames = const_cast<const char**>(metrics.data());
  size.numMetrics = metrics.size();
  size.maxNumOfRanges = ranges;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
  if (const auto code = cuptiRangeProfilerGetCounterDataSize(&size); code != CUPTI_SUCCESS)
    return code;
  image.assign(size.counterDataSize, 0);
  PLAYBACK_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, params);
  params.pRangeProfilerObject = object;
  params.counterDataSize = image.size();
  params.pCounterData = image.data();
  return cuptiRangeProfilerCounterDataImageInitialize(&params);
}

CUptiResult Ranges::set_config(CUpti_ProfilerRange mode) {
  PLAYBACK_PARAMS(CUpti_RangeProfiler_SetConfig, params);
  params.pRangeProfilerObject = object;
  params.configSize = config.size();
  params.pConfig = config.data();
  params.counterDataImageSize = image.size();
  params.pCounterDataImage = image.data();
  params.range = mode;
  params.replayMode = wish.replayMode == 0 ? CUPTI_UserReplay : wish.replayMode;
  params.maxRangesPerPass = wish.maxRangesPerPass == 0 ? 16 : wish.maxRangesPerPass;
  params.numNestingLevels = wish.numNestingLevels == 0 ? 1 : wish.numNestingLevels;
  params.minNestingLevel = 1;
  params.targetNestingLevel = wish.targetNestingLevel;
  return cuptiRangeProfilerSetConfig(&params);
}

CUptiResult Ranges::start() {
  PLAYBACK_PARAMS(CUpti_RangeProfiler_Start, params);
  params.pRangeProfilerObject = object;
  return cuptiRangeProfilerStart(&params);
}

CUptiResult Ranges::push(const char* name) {
  PLAYBACK_PARAMS(CUpti_RangeProfiler_PushRange, params);
  params.pRangeProfilerObject = object;
  params.pRangeName = name;
  return cuptiRangeProfilerPushRange(&params);
}

CUptiResult Ranges::pop() {
  PLAYBACK_PARAMS(CUpti_RangeProfiler_PopRange, params);
  params.pRangeProfilerObject = object;
  return cuptiRangeProfilerPopRange(&params);
}

CUptiResult Ranges::stop() {
  PLAYBACK_PARAMS(CUpti_RangeProfiler_Stop, params);
  params.pRangeProfilerObject = object;
  return cuptiRangeProfilerStop(&params);
}

CUptiResult Ranges::decode(std::size_t* dropped) {
  PLAYBACK_PARAMS(CUpti_RangeProfiler_DecodeData, params);
  params.pRangeProfilerObject = object;
  const CUptiResult result = cuptiRangeProfilerDecodeData(&params);
  if (dropped != nullptr) *dropped = params.numOfRangeDropped;
  return result;
}

void Ranges::begin(const std::vector<const char*>& metrics, CUpti_ProfilerRange mode) {
  ASSERT_EQ(initialize(), CUPTI_SUCCESS);
  ASSERT_EQ(enable(), CUPTI_SUCCESS);
  ASSERT_EQ(make_images(metrics), CUPTI_SUCCESS);
  ASSERT_EQ(set_config(mode), CUPTI_SUCCESS);
  ASSERT_EQ(start(), CUPTI_SUCCESS);
}

std::size_t Ranges::count() const {
  PLAYBACK_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, params);
  params.pCounterDataImage = const_cast<std::uint8_t*>(image.data());
  params.counterDataImageSize = image.size();
  EXPECT_EQ(cuptiRangeProfilerGetCounterDataInfo(&params), CUPTI_SUCCESS);
  return params.numTotalRanges;
}

std::string Ranges::name(std::size_t index) const {
  PLAYBACK_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo, params);
  params.pCounterDataImage = const_cast<std::uint8_t*>(image.data());
  params.counterDataImageSize = image.size();
  params.rangeIndex = index;
  params.rangeDelimiter = "/";
  if (cuptiRangeProfilerCounterDataGetRangeInfo(&params) != CUPTI_SUCCESS) return "(none)";
  std::string text = params.rangeName;
  std::free(const_cast<char*>(params.rangeName));
  return text;
}

double Ranges::value(std::size_t index, const char* metric) const {
  PLAYBACK_PARAMS(CUpti_Profiler_Host_Initialize, host);
  host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  host.pChipName = "GH100";
  EXPECT_EQ(cuptiProfilerHostInitialize(&host), CUPTI_SUCCESS);
  PLAYBACK_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, params);
  double value = std::nan("");
  params.pHostObject = host.pHostObject;
  params.pCounterDataImage = const_cast<std::uint8_t*>(image.data());
  params.counterDataImageSize = image.size();
  params.rangeIndex = index;
  params.ppMetricNames = &metric;
  params.numMetrics = 1;
  params.pMetricValues = &value;
  EXPECT_EQ(cuptiProfilerHostEvaluateToGpuValues(&params), CUPTI_SUCCESS);
  PLAYBACK_PARAMS(CUpti_Profiler_Host_Deinitialize, end);
  end.pHostObject = host.pHostObject;
  cuptiProfilerHostDeinitialize(&end);
  return value;
}

}  // namespace gable::playback

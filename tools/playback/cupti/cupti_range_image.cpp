// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: counter images of the range profiler.
#include <cstring>

#include "tools/playback/cupti/cupti_range.h"

namespace gable::playback {

void pin(CUpti_RangeProfiler_Object& object, const std::uint8_t* data, std::size_t size,
         const char* what) {
  const std::uint64_t sum = checksum(data, size);
  for (Pinned& pinned : object.pins) {
    if (pinned.data != data) continue;
    pinned = {data, size, sum, what};
    return;
  }
  object.pins.push_back({data, size, sum, what});
}

void verify_pins(const char* call, const CUpti_RangeProfiler_Object& object) {
  for (const Pinned& pinned : object.pins) {
    if (checksum(pinned.data, pinned.size) == pinned.sum) continue;
    broken(std::string("the ") + pinned.what +
           " was changed or freed before cuptiRangeProfilerDisable (seen in " + call + ")");
  }
}

}  // namespace gable::playback

using namespace gable::playback;

extern "C" {

CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
  const std::lock_guard<std::recursive_mutex> lock(range_mutex());
  CUptiResult refusal = CUPTI_SUCCESS;
  CUpti_RangeProfiler_Object* object =
      checked_object(__func__, params->pRangeProfilerObject, refusal);
  if (object == nullptr) return refusal;
  if (params->pMetricNames == nullptr || params->numMetrics == 0 || params->maxNumOfRanges == 0) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (params->maxNumRangeTreeNodes < params->maxNumOfRanges) {
    broken("maxNumRangeTreeNodes is smaller than maxNumOfRanges");
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (params->maxNumOfRanges > kRangeLimit && the_gpu().control().is("range_limit", "size_2000"))
    return CUPTI_ERROR_INVALID_OPERATION;
  const std::vector<std::string> metrics(params->pMetricNames,
                                         params->pMetricNames + params->numMetrics);
  params->counterDataSize = CounterImage::size_for(metrics, params->maxNumOfRanges);
  object->asked_metrics = metrics;
  object->asked_ranges = params->maxNumOfRanges;
  object->asked_size = params->counterDataSize;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  const std::lock_guard<std::recursive_mutex> lock(range_mutex());
  CUptiResult refusal = CUPTI_SUCCESS;
  CUpti_RangeProfiler_Object* object =
      checked_object(__func__, params->pRangeProfilerObject, refusal);
  if (object == nullptr) return refusal;
  if (params->pCounterData == nullptr || params->counterDataSize == 0 ||
      params->counterDataSize != object->asked_size) {
    broken(
        "a counter image was initialized with another size than its object's last "
        "cuptiRangeProfilerGetCounterDataSize gave");
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (object->started && params->pCounterData == object->image) {
    broken("the counter image was initialized again between Start and Stop");
  }
  CounterImage::initialize(params->pCounterData, params->counterDataSize, object->asked_metrics,
                           object->asked_ranges);
  for (Pinned& pinned : object->pins) {
    if (pinned.data == params->pCounterData) pinned.sum = checksum(pinned.data, pinned.size);
  }
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
  const CounterImage image(params->pCounterDataImage, params->counterDataImageSize);
  if (!image.valid()) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numTotalRanges = image.ranges();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerCounterDataGetRangeInfo(
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_RangeProfiler_CounterData_GetRangeInfo_Params_STRUCT_SIZE);
  const CounterImage image(params->pCounterDataImage, params->counterDataImageSize);
  if (!image.valid() || params->rangeIndex >= image.ranges()) return CUPTI_ERROR_INVALID_PARAMETER;
  params->rangeName = strdup(image.range(params->rangeIndex).name.c_str());  // the caller's to free
  return CUPTI_SUCCESS;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
#include "collector/counters/image_values.h"

#include <cstdlib>
#include <limits>

#include "collector/cupti/cupti_params.h"

namespace gable {

CuptiFailure count_ranges(const CuptiApi& api, const std::vector<std::uint8_t>& image,
                          std::size_t& ranges) {
  GABLE_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, params);
  params.pCounterDataImage = const_cast<std::uint8_t*>(image.data());
  params.counterDataImageSize = image.size();
  if (const auto code = GABLE_CALL(api, cuptiRangeProfilerGetCounterDataInfo, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api, "cuptiRangeProfilerGetCounterDataInfo", code);
  ranges = params.numTotalRanges;
  return {};
}

CuptiFailure name_of_range(const CuptiApi& api, const std::vector<std::uint8_t>& image,
                           std::size_t index, std::string& name) {
  GABLE_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo, params);
  params.pCounterDataImage = const_cast<std::uint8_t*>(image.data());
  params.counterDataImageSize = image.size();
  params.rangeIndex = index;
  params.rangeDelimiter = "/";
  if (const auto code = GABLE_CALL(api, cuptiRangeProfilerCounterDataGetRangeInfo, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api, "cuptiRangeProfilerCounterDataGetRangeInfo", code);
  if (params.rangeName != nullptr) {
    name = params.rangeName;
    std::free(const_cast<char*>(params.rangeName));  // CUPTI allocates it, the caller frees it
  }
  return {};
}

CuptiFailure values_of_range(const CuptiApi& api, const HostObject& host,
                             const std::vector<std::uint8_t>& image, std::size_t index,
                             std::vector<const char*>& metrics, std::vector<double>& values) {
  values.assign(metrics.size(), std::numeric_limits<double>::quiet_NaN());
  GABLE_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, params);
  params.pHostObject = host.get();
  params.pCounterDataImage = const_cast<std::uint8_t*>(image.data());
  params.counterDataImageSize = image.size();
  params.rangeIndex = index;
  params.ppMetricNames = metrics.data();
  params.numMetrics = metrics.size();
  params.pMetricValues = values.data();
  if (const auto code = GABLE_CALL(api, cuptiProfilerHostEvaluateToGpuValues, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api, "cuptiProfilerHostEvaluateToGpuValues", code);
  return {};
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/metrics/host_object.h"

#include <utility>

#include "collector/cupti/cupti_params.h"
#include "collector/cupti/nvperf.h"

namespace gable {

HostObject::HostObject(const CuptiApi& api, std::string chip,
                       const std::vector<std::uint8_t>* availability)
    : api_(api), chip_(std::move(chip)), availability_(availability) {}

HostObject::~HostObject() {
  if (object_ == nullptr) return;
  GABLE_PARAMS(CUpti_Profiler_Host_Deinitialize, params);
  params.pHostObject = object_;
  GABLE_CALL(api_, cuptiProfilerHostDeinitialize, &params);
}

CuptiFailure HostObject::open() {
  open_nvperf(api_.path);
  GABLE_PARAMS(CUpti_Profiler_Host_Initialize, params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip_.c_str();
  if (availability_ != nullptr && !availability_->empty())
    params.pCounterAvailabilityImage = availability_->data();
  if (const auto code = GABLE_CALL(api_, cuptiProfilerHostInitialize, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api_, "cuptiProfilerHostInitialize", code);
  object_ = params.pHostObject;
  return {};
}

CuptiFailure HostObject::add(const std::vector<std::string>& metrics) {
  std::vector<const char*> names;
  names.reserve(metrics.size());
  for (const auto& metric : metrics) names.push_back(metric.c_str());
  GABLE_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, params);
  params.pHostObject = object_;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  if (const auto code = GABLE_CALL(api_, cuptiProfilerHostConfigAddMetrics, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api_, "cuptiProfilerHostConfigAddMetrics", code);
  return {};
}

CuptiFailure HostObject::config_image(std::vector<std::uint8_t>& image) {
  GABLE_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
  size.pHostObject = object_;
  if (const auto code = GABLE_CALL(api_, cuptiProfilerHostGetConfigImageSize, &size);
      code != CUPTI_SUCCESS)
    return call_failed(api_, "cuptiProfilerHostGetConfigImageSize", code);
  image.assign(size.configImageSize, 0);
  GABLE_PARAMS(CUpti_Profiler_Host_GetConfigImage, params);
  params.pHostObject = object_;
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  if (const auto code = GABLE_CALL(api_, cuptiProfilerHostGetConfigImage, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api_, "cuptiProfilerHostGetConfigImage", code);
  return {};
}

CuptiFailure HostObject::passes(std::vector<std::uint8_t>& image, std::size_t& count) {
  GABLE_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, params);
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  if (const auto code = GABLE_CALL(api_, cuptiProfilerHostGetNumOfPasses, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api_, "cuptiProfilerHostGetNumOfPasses", code);
  count = params.numOfPasses;
  return {};
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/host_object.h"

#include <utility>

#include "collector/nvperf.h"

namespace gable {

HostObject::HostObject(const CuptiApi& api, std::string chip,
                       const std::vector<std::uint8_t>* availability)
    : api_(api), chip_(std::move(chip)), availability_(availability) {}

HostObject::~HostObject() {
  if (object_ == nullptr) return;
  CUpti_Profiler_Host_Deinitialize_Params params{};
  params.structSize = CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE;
  params.pHostObject = object_;
  api_.cuptiProfilerHostDeinitialize(&params);
}

CuptiFailure HostObject::open() {
  open_nvperf(api_.path);
  CUpti_Profiler_Host_Initialize_Params params{};
  params.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip_.c_str();
  if (availability_ != nullptr && !availability_->empty())
    params.pCounterAvailabilityImage = availability_->data();
  if (const auto code = api_.cuptiProfilerHostInitialize(&params); code != CUPTI_SUCCESS)
    return call_failed(api_, "cuptiProfilerHostInitialize", code);
  object_ = params.pHostObject;
  return {};
}

CuptiFailure HostObject::add(const std::vector<std::string>& metrics) {
  std::vector<const char*> names;
  names.reserve(metrics.size());
  for (const auto& metric : metrics) names.push_back(metric.c_str());
  CUpti_Profiler_Host_ConfigAddMetrics_Params params{};
  params.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
  params.pHostObject = object_;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  if (const auto code = api_.cuptiProfilerHostConfigAddMetrics(&params); code != CUPTI_SUCCESS)
    return call_failed(api_, "cuptiProfilerHostConfigAddMetrics", code);
  return {};
}

CuptiFailure HostObject::config_image(std::vector<std::uint8_t>& image) {
  CUpti_Profiler_Host_GetConfigImageSize_Params size{};
  size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
  size.pHostObject = object_;
  if (const auto code = api_.cuptiProfilerHostGetConfigImageSize(&size); code != CUPTI_SUCCESS)
    return call_failed(api_, "cuptiProfilerHostGetConfigImageSize", code);
  image.assign(size.configImageSize, 0);
  CUpti_Profiler_Host_GetConfigImage_Params params{};
  params.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
  params.pHostObject = object_;
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  if (const auto code = api_.cuptiProfilerHostGetConfigImage(&params); code != CUPTI_SUCCESS)
    return call_failed(api_, "cuptiProfilerHostGetConfigImage", code);
  return {};
}

CuptiFailure HostObject::passes(std::vector<std::uint8_t>& image, std::size_t& count) {
  CUpti_Profiler_Host_GetNumOfPasses_Params params{};
  params.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
  params.configImageSize = image.size();
  params.pConfigImage = image.data();
  if (const auto code = api_.cuptiProfilerHostGetNumOfPasses(&params); code != CUPTI_SUCCESS)
    return call_failed(api_, "cuptiProfilerHostGetNumOfPasses", code);
  count = params.numOfPasses;
  return {};
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: the Profiler Host API (which metrics a chip has, passes, configuration
// images, evaluation) and what a client asks about a device. Works without a recording and before
// cuInit, as the real one.
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "tools/playback/cupti/chip_model.h"
#include "tools/playback/cupti/counter_image.h"
#include "tools/playback/cupti/cupti_range.h"

struct CUpti_Profiler_Host_Object {
  const gable::playback::ChipTable* chip = nullptr;
  std::vector<std::string> metrics;
  bool poisoned = false;
};

namespace gable::playback {
namespace {

std::mutex mutex;
std::set<CUpti_Profiler_Host_Object*>& objects() {
  static auto* all = new std::set<CUpti_Profiler_Host_Object*>;
  return *all;
}

bool alive(const char* call, CUpti_Profiler_Host_Object* object) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (object != nullptr && objects().count(object) != 0) return true;
  broken(std::string(call) +
         " was called with a profiler host object that does not exist (any more)");
  return false;
}

}  // namespace
}  // namespace gable::playback

using namespace gable::playback;

extern "C" {

CUptiResult CUPTIAPI cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  Gpu& gpu = the_gpu();
  if (!gpu.initialized.load()) {
    broken("cuptiDeviceGetChipName was called before cuInit had finished");
    return CUPTI_ERROR_NOT_INITIALIZED;
  }
  if (!cupti_started().load()) {
    broken("cuptiDeviceGetChipName was called before CUPTI was started");
    const bool fatal = played_release() == 1300 || played_release() == 1301;
    if (fatal) std::raise(SIGSEGV);  // the real one reads a table that is not there
    return played_release() < 1300 ? CUPTI_ERROR_NOT_INITIALIZED : CUPTI_ERROR_UNKNOWN;
  }
  if (params->deviceIndex >= gpu.recording().devices.size()) return CUPTI_ERROR_INVALID_PARAMETER;
  params->pChipName = gpu.recording().devices[params->deviceIndex].chip.c_str();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
  static const auto* chips = new std::vector<const char*>(ChipModel::chips());
  params->numChips = chips->size();
  params->ppChipNames = chips->data();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  if (params->profilerType != CUPTI_PROFILER_TYPE_RANGE_PROFILER || params->pChipName == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const ChipTable* chip = ChipModel::find(params->pChipName);
  if (chip == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto* made = new CUpti_Profiler_Host_Object;
  made->chip = chip;
  const std::lock_guard<std::mutex> lock(mutex);
  objects().insert(made);
  params->pHostObject = made;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  if (!alive(__func__, params->pHostObject)) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard<std::mutex> lock(mutex);
  objects().erase(params->pHostObject);
  delete params->pHostObject;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  CUpti_Profiler_Host_Object* object = params->pHostObject;
  if (!alive(__func__, object)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (object->poisoned) return CUPTI_ERROR_UNKNOWN;  // one rejected metric spoils the object
  if (params->ppMetricNames == nullptr || params->numMetrics == 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    const std::string name = params->ppMetricNames[i] == nullptr ? "" : params->ppMetricNames[i];
    if (!ChipModel::has(*object->chip, name)) {
      object->poisoned = true;
      return CUPTI_ERROR_INVALID_METRIC_NAME;
    }
    object->metrics.push_back(name);
  }
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  if (!alive(__func__, params->pHostObject)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (params->pHostObject->poisoned) return CUPTI_ERROR_UNKNOWN;
  params->configImageSize =
      ConfigImage{std::string(params->pHostObject->chip->chip), params->pHostObject->metrics}
          .write()
          .size();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  if (!alive(__func__, params->pHostObject)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (params->pHostObject->poisoned) return CUPTI_ERROR_UNKNOWN;
  const auto image =
      ConfigImage{std::string(params->pHostObject->chip->chip), params->pHostObject->metrics}
          .write();
  if (params->pConfigImage == nullptr || params->configImageSize < image.size())
    return CUPTI_ERROR_INVALID_PARAMETER;
  std::memcpy(params->pConfigImage, image.data(), image.size());
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  ConfigImage image;
  if (!ConfigImage::read(params->pConfigImage, params->configImageSize, image))
    return CUPTI_ERROR_INVALID_PARAMETER;
  const ChipTable* chip = ChipModel::find(image.chip);
  const auto passes = chip == nullptr ? std::nullopt : ChipModel::passes(*chip, image.metrics);
  if (!passes) return CUPTI_ERROR_UNKNOWN;
  params->numOfPasses = *passes;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  if (!alive(__func__, params->pHostObject)) return CUPTI_ERROR_INVALID_PARAMETER;
  const CounterImage image(params->pCounterDataImage, params->counterDataImageSize);
  if (!image.valid()) {
    broken("cuptiProfilerHostEvaluateToGpuValues got bytes that are not a counter image");
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (params->rangeIndex >= image.ranges() || params->ppMetricNames == nullptr ||
      params->pMetricValues == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const CounterRange range = image.range(params->rangeIndex);
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    double value = std::nan("");
    bool collected = false;
    for (std::size_t j = 0; j < image.metrics().size(); ++j) {
      if (image.metrics()[j] != params->ppMetricNames[i]) continue;
      value = range.values[j];
      collected = true;
    }
    if (!collected)
      broken(std::string(params->ppMetricNames[i]) + " was evaluated but not collected");
    params->pMetricValues[i] = value;
  }
  return CUPTI_SUCCESS;
}

}  // extern "C"

// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: the range profiler's calls, and the rules of their order.
#include "tools/playback/cupti/cupti_range.h"

#include <cupti_profiler_target.h>

#include <algorithm>

#include "tools/playback/cupti/chip_model.h"
#include "tools/playback/cupti/range_collect.h"

namespace gable::playback {
namespace {

std::atomic<bool> engine_initialized{false};

bool is_sass(const ConfigImage& config) {
  return std::all_of(config.metrics.begin(), config.metrics.end(), [](const std::string& metric) {
    return metric.find("_sass_") != std::string::npos;
  });
}

// Nobody knows whether it would be the thread that is in a callback, or all.
bool refused_in_callback() {
  const Control& control = the_gpu().control();
  return (inside() == Inside::driver && control.is("start_in_callback", "refused")) ||
         (driver_callbacks().load() > 0 && control.is("start_in_callback", "refused_to_all"));
}

}  // namespace

CUptiResult refuse(const char* call, const char* why) {
  broken(std::string(call) + " was called " + why);
  return CUPTI_ERROR_INVALID_OPERATION;
}

void check_current(const char* call, const CUpti_RangeProfiler_Object& object) {
  const Context* current = gable_playback_thread()->current;
  if (current == nullptr) {
    broken(std::string(call) + " was called on a thread with no current context");
  } else if (current != object.context) {
    broken(std::string(call) + " was called while another context was current");
  }
}

bool permission_missing(const char* at, const ConfigImage* config) {
  const Control& control = the_gpu().control();
  if (!control.no_permission()) return false;
  if (control.is("sass_permission", "needed")) return control.is("permission_asked_at", at);
  // Who lets some metrics pass can only ask when they are known.
  return config != nullptr && !is_sass(*config);
}

CUpti_RangeProfiler_Object* checked_object(const char* call, CUpti_RangeProfiler_Object* object,
                                           CUptiResult& refusal) {
  refusal = CUPTI_ERROR_INVALID_PARAMETER;
  check_capture(call);
  if (inside() == Inside::buffer)
    broken(std::string(call) + " was called inside a buffer callback");
  if (object == nullptr || range_objects().count(object) == 0) {
    broken(std::string(call) +
           " was called with a range profiler object that is not enabled (any more)");
    return nullptr;
  }
  if (object->context_gone) {
    broken(std::string(call) + " was called for a destroyed context");
    refusal = CUPTI_ERROR_INVALID_CONTEXT;
    return nullptr;
  }
  const Control& control = the_gpu().control();
  if (refused_in_callback()) {
    refusal = CUPTI_ERROR_INVALID_OPERATION;
    return nullptr;
  }
  if (gable_playback_thread()->current != object->context && control.is("current_context", "own")) {
    refusal = CUPTI_ERROR_INVALID_CONTEXT;
    return nullptr;
  }
  return object;
}

}  // namespace gable::playback

using namespace gable::playback;

extern "C" {

CUptiResult CUPTIAPI cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  check_capture(__func__);
  if (driver_is_too_old()) return CUPTI_ERROR_NOT_INITIALIZED;
  if (permission_missing("initialize")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  attach();
  engine_initialized = true;
  cupti_started() = true;
  engine_started();
  return CUPTI_SUCCESS;
}

// Not counted: the second call crashes the real one.
CUptiResult CUPTIAPI cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE);
  if (!engine_initialized.exchange(false))
    return refuse(__func__, "without a cuptiProfilerInitialize before it");
  const std::lock_guard<std::recursive_mutex> lock(range_mutex());
  if (!range_objects().empty()) return refuse(__func__, "while a range profiler is enabled");
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
  if (!engine_initialized.load()) {
    broken("cuptiRangeProfilerEnable was called before cuptiProfilerInitialize");
    return CUPTI_ERROR_NOT_INITIALIZED;
  }
  Gpu& gpu = the_gpu();
  if (permission_missing("enable")) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (const auto code = refused_device(); code != CUPTI_SUCCESS) return code;
  check_capture(__func__);
  if (refused_in_callback()) return CUPTI_ERROR_INVALID_OPERATION;
  if (inside() == Inside::buffer) return refuse(__func__, "inside a buffer callback");
  Context* context =
      params->ctx == nullptr ? gable_playback_thread()->current : gpu.context_of(params->ctx);
  if (context == nullptr) {
    if (params->ctx == nullptr)
      broken("cuptiRangeProfilerEnable was called on a thread with no current context");
    if (gpu.was_context(params->ctx))
      broken("cuptiRangeProfilerEnable was called for a destroyed context");
    return CUPTI_ERROR_INVALID_CONTEXT;
  }
  const std::lock_guard<std::recursive_mutex> lock(range_mutex());
  for (const CUpti_RangeProfiler_Object* other : range_objects()) {
    if (other->context == context) return refuse(__func__, "twice for one context");
  }
  if (!range_objects().empty() && gpu.control().is("profiler_objects", "one"))
    return CUPTI_ERROR_HARDWARE_BUSY;
  auto* made = new CUpti_RangeProfiler_Object;
  made->context = context;
  {
    const std::lock_guard<std::mutex> hold(gpu.mutex);
    made->first_late_module = gpu.next_module;
  }
  range_objects().insert(made);
  params->pRangeProfilerObject = made;
  engine_started();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
  verify_pins(__func__, *object);
  if (object->started) {
    broken("cuptiRangeProfilerDisable was called between Start and Stop");
    armed_profilers().fetch_sub(1);
    object->context->serialise = false;
  }
  range_objects().erase(object);
  delete object;
  engine_ended();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  if (object->started) return refuse(__func__, "between Start and Stop");
  verify_pins(__func__, *object);
  ConfigImage config;
  if (!ConfigImage::read(params->pConfig, params->configSize, config))
    return CUPTI_ERROR_INVALID_PARAMETER;
  const CounterImage counters(params->pCounterDataImage, params->counterDataImageSize);
  if (!counters.valid()) return refuse(__func__, "with a counter image that was not initialized");
  if (object->configurations > 0 && the_gpu().control().is("second_config", "refused")) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  if (permission_missing("set_config", &config)) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  const gable::DeviceInfo& device =
      the_gpu().recording().devices[static_cast<std::size_t>(object->context->device)];
  const ChipTable* chip = ChipModel::find(config.chip);
  if (chip == nullptr || config.chip != device.chip)
    return refuse(__func__, "with the configuration of another chip");
  const auto passes = ChipModel::passes(*chip, config.metrics);
  const bool replay = params->replayMode == CUPTI_KernelReplay;
  if (!passes || (*passes != 1 && !replay))
    return refuse(__func__, "with a configuration of more than one pass");
  if (counters.metrics() != config.metrics) {
    return refuse(__func__, "with a counter image that was made for other metrics");
  }
  if (params->maxRangesPerPass == 0 || params->passIndex != 0 || params->minNestingLevel == 0) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (params->maxRangesPerPass > kRangeLimit &&
      the_gpu().control().is("range_limit", "config_2000"))
    return CUPTI_ERROR_INVALID_OPERATION;
  if (params->numNestingLevels != 1)
    return refuse(__func__, "with more than one nesting level, which needs more passes");
  const Control& control = the_gpu().control();
  if (control.is("target_level", "zero") && params->targetNestingLevel != 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  if (control.is("target_level", "minimum") &&
      params->targetNestingLevel != params->minNestingLevel) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const bool automatic = params->range == CUPTI_AutoRange;
  if (!automatic && params->range != CUPTI_UserRange) return CUPTI_ERROR_INVALID_PARAMETER;
  if (control.is(automatic ? "auto_ranges" : "user_ranges", "refused"))
    return CUPTI_ERROR_INVALID_OPERATION;
  if (control.is("counter_kinds", is_sass(config) ? "hardware" : "sass"))
    return CUPTI_ERROR_INVALID_OPERATION;
  if (replay && !automatic) {
    return refuse(__func__, "with kernel replay and user ranges");
  }
  object->image = params->pCounterDataImage;
  object->image_size = params->counterDataImageSize;
  // On an H200 the object goes on with its first configuration, and only the image is another one.
  if (object->configurations == 0 || control.is("second_config", "allowed")) {
    object->config = std::move(config);
    object->mode = params->range;
    object->replays = replay ? *passes : 0;
    object->max_ranges = params->maxRangesPerPass;
    object->levels = params->numNestingLevels;
    object->first_level = params->minNestingLevel;
  }
  object->configured = true;
  object->stopped = false;
  ++object->configurations;
  pin(*object, params->pConfig, params->configSize, "configuration image");
  pin(*object, params->pCounterDataImage, params->counterDataImageSize, "counter image");
  return CUPTI_SUCCESS;
}

}  // extern "C"

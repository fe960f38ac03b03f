// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: the range profiler's calls, and the rules of their order.
#include "tests/playback/cupti_range.h"

#include <cupti_profiler_target.h>

#include <algorithm>
#include <utility>

#include "tests/playback/chip_model.h"
#include "tests/playback/range_collect.h"

namespace gable::playback {
namespace {

std::atomic<bool> engine_initialized{false};

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : "/") + name;
  return all;
}

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

bool wrong_thread(const CUpti_RangeProfiler_Object& object) {
  return object.starter != std::this_thread::get_id() && the_gpu().control().is("stop_thread", "starter");
}

}  // namespace

CUpti_RangeProfiler_Object* checked_object(const char* call, CUpti_RangeProfiler_Object* object, CUptiResult& refusal) {
  if (the_gpu().control().no_permission()) {
    refusal = CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
    return nullptr;
  }
  refusal = CUPTI_ERROR_INVALID_PARAMETER;
  check_capture(call);
  if (inside() == Inside::buffer) broken(std::string(call) + " was called inside a buffer callback");
  if (object == nullptr || range_objects().count(object) == 0) {
    broken(std::string(call) + " was called with a range profiler object that is not enabled (any more)");
    return nullptr;
  }
  if (object->context_gone) {
    broken(std::string(call) + " was called for a destroyed context");
    refusal = CUPTI_ERROR_INVALID_CONTEXT;
    return nullptr;
  }
  return object;
}

}  // namespace gable::playback

using namespace gable::playback;

// Every call on an object begins so; `object` is it.
#define GABLE_RANGE_CALL(params, size)                                               \
  GABLE_ENTER();                                                                     \
  GABLE_CHECK_STRUCT(params, size);                                                  \
  const std::lock_guard<std::recursive_mutex> lock(range_mutex());                   \
  CUptiResult refusal = CUPTI_SUCCESS;                                               \
  CUpti_RangeProfiler_Object* object = checked_object(__func__, (params)->pRangeProfilerObject, refusal); \
  if (object == nullptr) return refusal

extern "C" {

CUptiResult CUPTIAPI cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
  GABLE_ENTER();
  GABLE_CHECK_STRUCT(params, CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  check_capture(__func__);
  attach();
  engine_initialized = true;
  engine_started();
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
  if (gpu.control().no_permission()) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  check_capture(__func__);
  Context* context = params->ctx == nullptr ? gable_playback_thread()->current : gpu.context_of(params->ctx);
  if (context == nullptr) {
    if (params->ctx == nullptr) broken("cuptiRangeProfilerEnable was called on a thread with no current context");
    if (gpu.was_context(params->ctx)) broken("cuptiRangeProfilerEnable was called for a destroyed context");
    return CUPTI_ERROR_INVALID_CONTEXT;
  }
  const std::lock_guard<std::recursive_mutex> lock(range_mutex());
  for (const CUpti_RangeProfiler_Object* other : range_objects()) {
    if (other->context == context) return refuse(__func__, "twice for one context");
  }
  auto* made = new CUpti_RangeProfiler_Object;
  made->context = context;
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
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  if (object->started) return refuse(__func__, "between Start and Stop");
  verify_pins(__func__, *object);
  ConfigImage config;
  if (!ConfigImage::read(params->pConfig, params->configSize, config)) return CUPTI_ERROR_INVALID_PARAMETER;
  const CounterImage counters(params->pCounterDataImage, params->counterDataImageSize);
  if (!counters.valid()) return refuse(__func__, "with a counter image that was not initialized");
  if (object->configurations > 0 && the_gpu().control().is("second_config", "refused")) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  const gable::DeviceInfo& device = the_gpu().recording().devices[static_cast<std::size_t>(object->context->device)];
  const ChipTable* chip = ChipModel::find(config.chip);
  if (chip == nullptr || config.chip != device.chip) return refuse(__func__, "with the configuration of another chip");
  const auto passes = ChipModel::passes(*chip, config.metrics);
  if (!passes || *passes != 1) return refuse(__func__, "with a configuration of more than one pass");
  if (counters.metrics() != config.metrics) {
    return refuse(__func__, "with a counter image that was made for other metrics");
  }
  if (params->maxRangesPerPass == 0 || params->passIndex != 0 || params->minNestingLevel == 0) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (params->numNestingLevels != 1) return refuse(__func__, "with more than one nesting level, which needs more passes");
  const bool automatic = params->range == CUPTI_AutoRange;
  if (!automatic && params->range != CUPTI_UserRange) return CUPTI_ERROR_INVALID_PARAMETER;
  if (params->replayMode == CUPTI_KernelReplay && !automatic) {
    return refuse(__func__, "with kernel replay and user ranges");
  }
  object->config = std::move(config);
  object->image = params->pCounterDataImage;
  object->image_size = params->counterDataImageSize;
  object->mode = params->range;
  object->max_ranges = params->maxRangesPerPass;
  object->levels = params->numNestingLevels;
  object->first_level = params->minNestingLevel;
  object->configured = true;
  object->stopped = false;
  ++object->configurations;
  pin(*object, params->pConfig, params->configSize, "configuration image");
  pin(*object, params->pCounterDataImage, params->counterDataImageSize, "counter image");
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
  if (!object->configured) return refuse(__func__, "before cuptiRangeProfilerSetConfig");
  if (object->started) return refuse(__func__, "twice without a Stop");
  check_current(__func__, *object);
  verify_pins(__func__, *object);
  if (kernel_activity_enabled() && the_gpu().control().is("activity_with_counters", "hang_reported")) {
    broken("cuptiRangeProfilerStart was called while kernel activity is enabled (a reported hang)");
  }
  object->started = true;
  object->starter = std::this_thread::get_id();
  object->open.clear();
  object->collected.clear();
  object->by_name.clear();
  object->counting = false;
  object->automatic = object->dropped = 0;
  object->context->serialise = object->mode == CUPTI_AutoRange;
  armed_profilers().fetch_add(1);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  if (!object->started) return refuse(__func__, "without a Start");
  if (wrong_thread(*object)) return CUPTI_ERROR_INVALID_OPERATION;
  if (!object->open.empty()) broken("cuptiRangeProfilerStop was called while a range was open");
  verify_pins(__func__, *object);
  object->started = false;
  object->stopped = true;
  object->context->serialise = false;
  armed_profilers().fetch_sub(1);
  params->passIndex = 0;
  params->targetNestingLevel = object->first_level;
  params->isAllPassSubmitted = 1;
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
  if (!object->started) return refuse(__func__, "without a Start");
  if (object->mode != CUPTI_UserRange) return refuse(__func__, "while ranges are automatic");
  if (params->pRangeName == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  check_current(__func__, *object);
  object->open.emplace_back(params->pRangeName);
  const std::size_t depth = object->open.size();
  if (depth >= object->first_level + object->levels) {
    broken("ranges were nested deeper than numNestingLevels");
  } else if (depth >= object->first_level) {
    begin_instance(*object, joined(object->open));
  }
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
  if (!object->started) return refuse(__func__, "without a Start");
  if (object->open.empty()) return refuse(__func__, "with no range open");
  if (object->open.size() == object->first_level && object->counting) end_instance(*object);
  object->open.pop_back();
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
  if (object->started || !object->stopped) return refuse(__func__, "before a Stop");
  if (wrong_thread(*object)) return CUPTI_ERROR_INVALID_OPERATION;
  verify_pins(__func__, *object);
  Gpu& gpu = the_gpu();
  gpu.wait_until(gpu.context_end(*object->context));  // decoding waits for the context
  std::vector<Collected> ranges;
  ranges.swap(object->collected);
  std::size_t dropped = std::exchange(object->dropped, 0);
  const std::size_t lost = std::min<std::size_t>(gpu.control().take_dropped_ranges(), ranges.size());
  ranges.resize(ranges.size() - lost);
  dropped += lost;
  if (gpu.control().is("range_order", "reversed")) std::reverse(ranges.begin(), ranges.end());
  for (const Collected& range : ranges) {
    if (!CounterImage::append(object->image, object->image_size, {range.name, range.values})) ++dropped;
  }
  pin(*object, object->image, object->image_size, "counter image");
  params->numOfRangeDropped = dropped;
  return CUPTI_SUCCESS;
}

}  // extern "C"

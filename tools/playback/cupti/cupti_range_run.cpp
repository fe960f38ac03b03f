// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: the range profiler's calls between Start and Decode, and the rules of
// their order.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "tools/playback/cupti/cupti_range.h"
#include "tools/playback/cupti/range_collect.h"

namespace gable::playback {
namespace {

std::string nested_name(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : "/") + name;
  return all;
}

// What each range costs on the virtual clock, for tests.
std::uint64_t range_ns() {
  static const char* const text = std::getenv("GABLE_PLAYBACK_RANGE_NS");
  static const std::uint64_t ns = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  return ns;
}

// NaN for what the image is to have and the object did not collect.
std::vector<double> values_for(const std::vector<std::string>& wanted,
                               const std::vector<std::string>& collected, const Collected& range) {
  if (wanted == collected) return range.values;
  std::vector<double> values;
  values.reserve(wanted.size());
  for (const std::string& metric : wanted) {
    const auto found = std::find(collected.begin(), collected.end(), metric);
    values.push_back(found == collected.end()
                         ? std::numeric_limits<double>::quiet_NaN()
                         : range.values[static_cast<std::size_t>(found - collected.begin())]);
  }
  return values;
}

bool wrong_thread(const CUpti_RangeProfiler_Object& object) {
  return object.starter != std::this_thread::get_id() &&
         the_gpu().control().is("stop_thread", "starter");
}

}  // namespace
}  // namespace gable::playback

using namespace gable::playback;

extern "C" {

CUptiResult CUPTIAPI cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
  if (!object->configured) return refuse(__func__, "before cuptiRangeProfilerSetConfig");
  if (object->started) return refuse(__func__, "twice without a Stop");
  if (permission_missing("start", &object->config)) return CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  if (object->max_ranges > kRangeLimit && the_gpu().control().is("range_limit", "start_2000"))
    return CUPTI_ERROR_INVALID_OPERATION;
  check_current(__func__, *object);
  verify_pins(__func__, *object);
  for (const CUpti_RangeProfiler_Object* other : range_objects()) {
    if (other->started && other->context->device == object->context->device &&
        the_gpu().control().is("profiler_objects", "one_started"))
      return CUPTI_ERROR_HARDWARE_BUSY;
  }
  if (kernel_activity_enabled() &&
      the_gpu().control().is("activity_with_counters", "hang_reported")) {
    broken("cuptiRangeProfilerStart was called while kernel activity is enabled (a reported hang)");
  }
  object->started = true;
  object->starter = std::this_thread::get_id();
  object->open.clear();
  object->collected.clear();
  object->by_name.clear();
  object->counting = false;
  object->automatic = object->dropped = 0;
  object->cannot_stop = false;
  object->context->serialise = object->mode == CUPTI_AutoRange;
  armed_profilers().fetch_add(1);
  if (the_gpu().control().is("start_modules", "loaded")) load_own_module(object->context);
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  if (!object->started) return refuse(__func__, "without a Start");
  if (wrong_thread(*object)) return CUPTI_ERROR_INVALID_OPERATION;
  if (!object->open.empty()) return refuse(__func__, "while a range was open");
  if (object->cannot_stop) return CUPTI_ERROR_UNKNOWN;
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
  if (object->open.size() + 1 >= object->first_level + object->levels) {
    return refuse(__func__, "deeper than the nesting levels that were configured");
  }
  object->open.emplace_back(params->pRangeName);
  the_gpu().advance(range_ns());
  if (object->open.size() >= object->first_level)
    begin_instance(*object, nested_name(object->open));
  return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  GABLE_RANGE_CALL(params, CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
  if (!object->started) return refuse(__func__, "without a Start");
  if (object->mode != CUPTI_UserRange) return refuse(__func__, "while ranges are automatic");
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
  const std::size_t lost =
      std::min<std::size_t>(gpu.control().take_dropped_ranges(), ranges.size());
  ranges.resize(ranges.size() - lost);
  dropped += lost;
  if (gpu.control().is("range_order", "reversed")) std::reverse(ranges.begin(), ranges.end());
  const auto wanted = CounterImage(object->image, object->image_size).metrics();
  for (const Collected& range : ranges) {
    if (!CounterImage::append(object->image, object->image_size,
                              {range.name, values_for(wanted, object->config.metrics, range)}))
      ++dropped;
  }
  pin(*object, object->image, object->image_size, "counter image");
  params->numOfRangeDropped = dropped;
  return CUPTI_SUCCESS;
}

}  // extern "C"

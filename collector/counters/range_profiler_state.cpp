// SPDX-License-Identifier: Apache-2.0
#include "collector/counters/range_profiler_state.h"

#include <algorithm>

#include "collector/counters/image_values.h"
#include "collector/counters/kept_images.h"

namespace gable {
namespace {

// Codes that a second attempt in another way cannot change.
bool is_final(CUptiResult code) { return !remedy_for(code).empty(); }

}  // namespace

CuptiFailure RangeProfiler::State::enable() {
  if (object != nullptr) return {};
  if (auto failure = why_not_disabled(); failure.failed()) return failure;
  if (auto failure = engine.start(); failure.failed()) return failure;
  GABLE_PARAMS(CUpti_RangeProfiler_Enable, params);
  params.ctx = context;
  if (const auto code = GABLE_CALL(api, cuptiRangeProfilerEnable, &params); code != CUPTI_SUCCESS)
    return call_failed(api, "cuptiRangeProfilerEnable", code);
  object = params.pRangeProfilerObject;
  configured.reset();
  return {};
}

CuptiFailure RangeProfiler::State::disable() {
  if (object == nullptr || runs_on) return {};
  GABLE_PARAMS(CUpti_RangeProfiler_Disable, params);
  params.pRangeProfilerObject = object;
  configured.reset();
  const auto code = GABLE_CALL(api, cuptiRangeProfilerDisable, &params);
  object = nullptr;  // it may be gone all the same
  if (code == CUPTI_SUCCESS) {
    for (auto& one : prepared) one.image = nullptr;
    images.clear();
    bytes = 0;
    return {};
  }
  pinned = true;
  auto failure = call_failed(api, "cuptiRangeProfilerDisable", code);
  const MutexLock hold(mutex);
  return not_disabled = failure;
}

CuptiFailure RangeProfiler::State::prepare(const PassPlan& plan) {
  current = nullptr;
  for (auto& one : prepared)
    if (one.plan == &plan) current = &one;
  if (current != nullptr) return {};
  Prepared fresh;
  fresh.plan = &plan;
  fresh.host = std::make_unique<HostObject>(api, chip);
  for (const auto& metric : plan.metrics) fresh.names.push_back(metric.c_str());
  if (auto failure = fresh.host->open(); failure.failed()) return failure;
  if (auto failure = fresh.host->add(plan.metrics); failure.failed()) return failure;
  current = &prepared.emplace_back(std::move(fresh));
  return {};
}

CuptiFailure RangeProfiler::State::make_image(std::size_t ranges) {
  if (current->image != nullptr) ranges = std::max(ranges, current->image_ranges);
  GABLE_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, params);
  params.pRangeProfilerObject = object;
  params.pMetricNames = current->names.data();
  params.numMetrics = current->names.size();
  params.maxNumOfRanges = ranges;
  params.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
  if (const auto code = GABLE_CALL(api, cuptiRangeProfilerGetCounterDataSize, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api, "cuptiRangeProfilerGetCounterDataSize", code);
  const bool fits = current->image != nullptr && current->image->size() == params.counterDataSize;
  if (!fits) {
    current->image = &images.emplace_back(params.counterDataSize);
    bytes += params.counterDataSize;
    image_bytes = std::max(image_bytes.load(), bytes);
  }
  current->image_ranges = ranges;
  return {};
}

CuptiFailure RangeProfiler::State::reset_image() {
  GABLE_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, params);
  params.pRangeProfilerObject = object;
  params.counterDataSize = current->image->size();
  params.pCounterData = current->image->data();
  if (const auto code = GABLE_CALL(api, cuptiRangeProfilerCounterDataImageInitialize, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api, "cuptiRangeProfilerCounterDataImageInitialize", code);
  return {};
}

CUptiResult RangeProfiler::State::set_config(RangeMode mode) {
  const auto& config = current->plan->config_image;
  GABLE_PARAMS(CUpti_RangeProfiler_SetConfig, params);
  params.pRangeProfilerObject = object;
  params.configSize = config.size();
  params.pConfig = config.data();
  params.counterDataImageSize = current->image->size();
  params.pCounterDataImage = current->image->data();
  params.range = are_pushed(mode) ? CUPTI_UserRange : CUPTI_AutoRange;
  // With a single pass user replay replays nothing.
  params.replayMode = mode == RangeMode::replay ? CUPTI_KernelReplay : CUPTI_UserReplay;
  params.maxRangesPerPass = current->image_ranges;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.passIndex = 0;
  params.targetNestingLevel = target_level;
  auto code = GABLE_CALL(api, cuptiRangeProfilerSetConfig, &params);
  if (code != CUPTI_SUCCESS && !is_final(code)) {
    params.targetNestingLevel = target_level == 0 ? 1 : 0;
    if (GABLE_CALL(api, cuptiRangeProfilerSetConfig, &params) == CUPTI_SUCCESS) {
      target_level = params.targetNestingLevel;
      code = CUPTI_SUCCESS;
    }
  }
  if (code == CUPTI_SUCCESS) configured = Configuration{current->plan, mode, current->image_ranges};
  return code;
}

CuptiFailure RangeProfiler::State::renew(const Configuration& wanted) {
  if (!configured || *configured == wanted) return {};
  if (auto failure = disable(); failure.failed()) return failure;
  return enable();
}

CuptiFailure RangeProfiler::State::configure(RangeMode mode) {
  const bool used = configured.has_value();
  auto code = set_config(mode);
  if (code != CUPTI_SUCCESS && used && !is_final(code)) {
    if (auto failure = disable(); failure.failed()) return failure;
    if (auto failure = enable(); failure.failed()) return failure;
    if (auto failure = make_image(current->image_ranges); failure.failed()) return failure;
    if (auto failure = reset_image(); failure.failed()) return failure;
    code = set_config(mode);
  }
  return code == CUPTI_SUCCESS ? CuptiFailure{}
                               : call_failed(api, "cuptiRangeProfilerSetConfig", code);
}

CuptiFailure RangeProfiler::State::start(const PassPlan& plan, RangeMode mode,
                                         std::size_t max_ranges) {
  if (auto failure = enable(); failure.failed()) return failure;
  if (auto failure = prepare(plan); failure.failed()) return failure;
  // What CUPTI takes is not documented and differs. Fewer ranges may do; those beyond are dropped
  // and counted.
  const auto most = most_ranges.load();
  for (;;) {
    auto failure = begin(mode, std::min(max_ranges, most_ranges.load()));
    if (!failure.failed()) return failure;
    const auto asked = current->image_ranges;
    // Fewer ranges need less memory.
    const bool final = is_final(failure.code) && failure.code != CUPTI_ERROR_OUT_OF_MEMORY;
    if (final || asked <= kFewestRanges) {
      most_ranges = most;  // that was not why
      return failure;
    }
    {
      const MutexLock hold(mutex);
      refused_ranges = failure;
    }
    most_ranges = std::max(kFewestRanges, asked > kLikelyRanges ? kLikelyRanges : asked / 2);
    current->image = nullptr;  // it stays in `images`: CUPTI may know it
    current->image_ranges = 0;
  }
}

CuptiFailure RangeProfiler::State::begin(RangeMode mode, std::size_t max_ranges) {
  if (current->image_ranges > most_ranges) {
    current->image = nullptr;
    current->image_ranges = 0;
  }
  current->image_ranges = std::max(current->image_ranges, max_ranges);
  if (auto failure = renew({current->plan, mode, current->image_ranges}); failure.failed())
    return failure;
  if (auto failure = make_image(current->image_ranges); failure.failed()) return failure;
  if (auto failure = reset_image(); failure.failed()) return failure;
  if (auto failure = configure(mode); failure.failed()) return failure;
  GABLE_PARAMS(CUpti_RangeProfiler_Start, params);
  params.pRangeProfilerObject = object;
  if (const auto code = GABLE_CALL(api, cuptiRangeProfilerStart, &params); code != CUPTI_SUCCESS)
    return call_failed(api, "cuptiRangeProfilerStart", code);
  started = true;
  return {};
}

CuptiFailure RangeProfiler::State::push() {
  GABLE_PARAMS(CUpti_RangeProfiler_PushRange, params);
  params.pRangeProfilerObject = object;
  params.pRangeName = pushed;
  const auto code = GABLE_CALL(api, cuptiRangeProfilerPushRange, &params);
  range_open = code == CUPTI_SUCCESS;
  return code == CUPTI_SUCCESS ? CuptiFailure{}
                               : call_failed(api, "cuptiRangeProfilerPushRange", code);
}

CuptiFailure RangeProfiler::State::pop() {
  GABLE_PARAMS(CUpti_RangeProfiler_PopRange, params);
  params.pRangeProfilerObject = object;
  const auto code = GABLE_CALL(api, cuptiRangeProfilerPopRange, &params);
  range_open = code != CUPTI_SUCCESS;
  return code == CUPTI_SUCCESS ? CuptiFailure{}
                               : call_failed(api, "cuptiRangeProfilerPopRange", code);
}

CuptiFailure RangeProfiler::State::stop() {
  GABLE_PARAMS(CUpti_RangeProfiler_Stop, params);
  params.pRangeProfilerObject = object;
  if (const auto code = GABLE_CALL(api, cuptiRangeProfilerStop, &params); code != CUPTI_SUCCESS)
    return call_failed(api, "cuptiRangeProfilerStop", code);
  started = false;
  if (params.isAllPassSubmitted == 0)
    return {CUPTI_ERROR_UNKNOWN,
            "CUPTI wants another pass over the launches of a single-pass window."};
  return {};
}

CuptiFailure RangeProfiler::State::decode(std::uint64_t& dropped) {
  decoded = false;
  GABLE_PARAMS(CUpti_RangeProfiler_DecodeData, params);
  params.pRangeProfilerObject = object;
  if (const auto code = GABLE_CALL(api, cuptiRangeProfilerDecodeData, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api, "cuptiRangeProfilerDecodeData", code);
  decoded = true;
  dropped = params.numOfRangeDropped;
  return {};
}

CuptiFailure RangeProfiler::State::read(Reading& reading) {
  reading = {};
  std::size_t ranges = 0;
  if (auto failure = decode(reading.dropped); failure.failed()) return failure;
  const auto& image = *current->image;
  if (auto failure = count_ranges(api, image, ranges); failure.failed()) return failure;
  reading.ranges.resize(ranges);
  for (std::size_t i = 0; i < ranges; ++i) {
    auto& range = reading.ranges[i];
    if (auto failure = name_of_range(api, image, i, range.name); failure.failed()) return failure;
    if (auto failure = values_of_range(api, *current->host, image, i, current->names, range.values);
        failure.failed())
      return failure;
  }
  if (auto* kept = engine.images())
    kept->keep({current->plan, chip, api.version, image, reading.ranges});
  return {};
}

// CUPTI is left as it was before the first start.
void RangeProfiler::State::let_go() {
  const auto failed = [this](CuptiFailure (State::*call)()) {
    return guarded([&] { return (this->*call)(); }).failed();
  };
  if (started && range_open && failed(&State::pop)) runs_on = true;
  if (started && !runs_on && failed(&State::stop) && started) runs_on = true;
  (void)guarded([&] { return disable(); });
}

}  // namespace gable

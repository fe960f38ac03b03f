// SPDX-License-Identifier: Apache-2.0
#include "collector/range_profiler.h"

#include <list>
#include <utility>

#include "analysis/mutex.h"
#include "collector/current_context.h"
#include "collector/image_values.h"
#include "collector/kept_images.h"
#include "collector/range_profiler_state.h"

namespace gable {

RangeProfiler::RangeProfiler(ProfilerEngine& engine, CUcontext context, std::string chip)
    : state_(std::make_unique<State>(engine, context, std::move(chip))) {}

RangeProfiler::~RangeProfiler() {
  static_cast<void>(disable());
  if (!state_->pinned) return;
  static auto* const kept =
      new std::list<std::unique_ptr<State>>;  // reachable, so no leak is reported
  static auto* const mutex = new Mutex;
  const MutexLock hold(*mutex);
  kept->push_back(std::move(state_));
}

CuptiFailure RangeProfiler::start(const PassPlan& plan, RangeMode mode, std::size_t max_ranges) {
  const CurrentContext current(state_->context);
  return guarded([&] { return state_->start(plan, mode, max_ranges); });
}

CuptiFailure RangeProfiler::push(const char* name) {
  GABLE_PARAMS(CUpti_RangeProfiler_PushRange, params);
  params.pRangeProfilerObject = state_->object;
  params.pRangeName = name;
  const auto code = state_->api.cuptiRangeProfilerPushRange(&params);
  if (code == CUPTI_SUCCESS) return {};
  return guarded([&] { return call_failed(state_->api, "cuptiRangeProfilerPushRange", code); });
}

CuptiFailure RangeProfiler::pop() {
  GABLE_PARAMS(CUpti_RangeProfiler_PopRange, params);
  params.pRangeProfilerObject = state_->object;
  auto code = state_->api.cuptiRangeProfilerPopRange(&params);
  // A range that stays open would forbid stopping.
  if (code != CUPTI_SUCCESS) code = state_->api.cuptiRangeProfilerPopRange(&params);
  if (code == CUPTI_SUCCESS) return {};
  state_->runs_on = true;
  return guarded([&] { return call_failed(state_->api, "cuptiRangeProfilerPopRange", code); });
}

CuptiFailure RangeProfiler::close_range() {
  const CurrentContext current(state_->context);
  return pop();
}

CuptiFailure RangeProfiler::stop() {
  const CurrentContext current(state_->context);
  return guarded([&]() -> CuptiFailure {
    if (state_->runs_on) return {CUPTI_ERROR_UNKNOWN, "A range of CUPTI's could not be closed."};
    GABLE_PARAMS(CUpti_RangeProfiler_Stop, params);
    params.pRangeProfilerObject = state_->object;
    if (auto failure = state_->patiently("cuptiRangeProfilerStop",
                                         state_->api.cuptiRangeProfilerStop, params, true);
        failure.failed()) {
      state_->runs_on = !state_->engine.patient().stuck();
      return failure;
    }
    if (params.isAllPassSubmitted == 0)
      return {CUPTI_ERROR_UNKNOWN,
              "CUPTI wants another pass over the launches of a single-pass window."};
    return {};
  });
}

CuptiFailure RangeProfiler::read(Reading& reading) {
  const CurrentContext made_current(state_->context);
  return guarded([&]() -> CuptiFailure {
    reading = {};
    std::size_t ranges = 0;
    if (auto failure = state_->decode(reading.dropped); failure.failed()) return failure;
    auto& current = *state_->current;
    const auto& image = *current.image;
    if (auto failure = count_ranges(state_->api, image, ranges); failure.failed()) return failure;
    reading.ranges.resize(ranges);
    for (std::size_t i = 0; i < ranges; ++i) {
      auto& range = reading.ranges[i];
      if (auto failure = name_of_range(state_->api, image, i, range.name); failure.failed())
        return failure;
      if (auto failure =
              values_of_range(state_->api, *current.host, image, i, current.names, range.values);
          failure.failed())
        return failure;
    }
    if (auto* images = state_->engine.images())
      images->keep({current.plan, state_->chip, state_->api.version, image, reading.ranges});
    return {};
  });
}

CuptiFailure RangeProfiler::disable() {
  if (state_->object == nullptr) return {};
  const CurrentContext current(state_->context);
  return guarded([&] { return state_->disable(); });
}

void RangeProfiler::abandon() {
  if (std::exchange(state_->object, nullptr) != nullptr) state_->pinned = true;
}

bool RangeProfiler::runs_on() const { return state_->runs_on; }

const CuptiFailure& RangeProfiler::not_disabled() const { return state_->not_disabled; }

std::size_t RangeProfiler::most_ranges() const { return state_->most_ranges; }

const CuptiFailure& RangeProfiler::refused_ranges() const { return state_->refused_ranges; }

bool RangeProfiler::enabled() const { return state_->object != nullptr; }

std::uint64_t RangeProfiler::image_bytes() const {
  return state_->image_bytes.load(std::memory_order_relaxed);
}

}  // namespace gable

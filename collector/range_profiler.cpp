// SPDX-License-Identifier: Apache-2.0
#include "collector/range_profiler.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <utility>

#include "collector/cupti_params.h"
#include "collector/current_context.h"
#include "collector/host_object.h"
#include "collector/image_values.h"
#include "collector/kept_images.h"

namespace gable {
namespace {

// Codes that a second attempt in another way cannot change.
bool is_final(CUptiResult code) { return !remedy_for(code).empty(); }

}  // namespace

struct RangeProfiler::State {
  // What a plan needs on the host: made at its first window and kept, since making it takes
  // milliseconds.
  struct Prepared {
    const PassPlan* plan = nullptr;
    std::unique_ptr<HostObject> host;  // has the plan's metrics added, for evaluation
    std::vector<const char*> names;
    std::vector<std::uint8_t>* image = nullptr;
    std::size_t image_ranges = 0;
  };

  ProfilerEngine& engine;
  const CuptiApi& api;
  const CUcontext context;
  const std::string chip;
  CUpti_RangeProfiler_Object* object = nullptr;
  bool configured = false;         // `object` has had a configuration
  std::uint16_t target_level = 0;  // 0 in NVIDIA's samples; the older API wanted minNestingLevel
  std::list<Prepared> prepared;
  std::list<std::vector<std::uint8_t>> images;  // never freed before disable: CUPTI keeps pointers
  std::atomic<std::uint64_t> image_bytes{0};    // of them all; asked by other threads
  Prepared* current = nullptr;
  bool pinned = false;   // CUPTI may still use the images: never free them
  bool runs_on = false;  // it could not be stopped

  State(ProfilerEngine& the_engine, CUcontext the_context, std::string the_chip)
      : engine(the_engine),
        api(the_engine.api()),
        context(the_context),
        chip(std::move(the_chip)) {}

  // A call that may hang, with parameters that outlive it. Where the helper's thread is refused,
  // the caller's may be the right one; `again` says whether a second call can do no harm.
  template <class Params>
  CuptiFailure patiently(const char* name, CUptiResult(CUPTIAPI* call)(Params*), Params& params,
                         bool again) {
    auto& patient = engine.patient();
    const auto own = std::make_shared<Params>(params);
    auto code = patient.make(context, [call, own] { return call(own.get()); });
    if (code && *code != CUPTI_SUCCESS && again) {
      const auto second = call(own.get());
      if (second == CUPTI_SUCCESS) patient.use_callers_thread();
      code = second;
    }
    if (!code) {
      pinned = true;
      return {CUPTI_ERROR_UNKNOWN, std::string(name) + " did not return; CUPTI is left alone."};
    }
    params = *own;
    return *code == CUPTI_SUCCESS ? CuptiFailure{} : call_failed(api, name, *code);
  }

  CuptiFailure enable() {
    if (engine.patient().stuck())
      return {CUPTI_ERROR_UNKNOWN, "CUPTI has not returned from an earlier call."};
    if (object != nullptr) return {};
    if (auto failure = engine.start(); failure.failed()) return failure;
    GABLE_PARAMS(CUpti_RangeProfiler_Enable, params);
    params.ctx = context;
    if (const auto code = api.cuptiRangeProfilerEnable(&params); code != CUPTI_SUCCESS)
      return call_failed(api, "cuptiRangeProfilerEnable", code);
    object = params.pRangeProfilerObject;
    configured = false;
    return {};
  }

  CuptiFailure disable() {
    if (object == nullptr || runs_on || engine.patient().stuck()) return {};
    GABLE_PARAMS(CUpti_RangeProfiler_Disable, params);
    params.pRangeProfilerObject = std::exchange(object, nullptr);
    configured = false;
    auto failure = patiently("cuptiRangeProfilerDisable", api.cuptiRangeProfilerDisable, params,
                             false);  // the object may be gone all the same
    if (failure.failed()) pinned = true;
    return failure;
  }

  CuptiFailure prepare(const PassPlan& plan) {
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

  // A counter image with room for `ranges`; one that became too small stays alive beside it. Asked
  // before every window: initializing an image says nothing of metrics, so CUPTI can only know them
  // from the last time this object was asked.
  CuptiFailure make_image(std::size_t ranges) {
    if (current->image != nullptr) ranges = std::max(ranges, current->image_ranges);
    GABLE_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, params);
    params.pRangeProfilerObject = object;
    params.pMetricNames = current->names.data();
    params.numMetrics = current->names.size();
    params.maxNumOfRanges = ranges;
    params.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
    if (const auto code = api.cuptiRangeProfilerGetCounterDataSize(&params); code != CUPTI_SUCCESS)
      return call_failed(api, "cuptiRangeProfilerGetCounterDataSize", code);
    const bool fits = current->image != nullptr && current->image->size() == params.counterDataSize;
    if (!fits) {
      current->image = &images.emplace_back(params.counterDataSize);
      image_bytes.fetch_add(params.counterDataSize, std::memory_order_relaxed);
    }
    current->image_ranges = ranges;
    return {};
  }

  // Makes the image empty, as it must be for every window.
  CuptiFailure reset_image() {
    GABLE_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, params);
    params.pRangeProfilerObject = object;
    params.counterDataSize = current->image->size();
    params.pCounterData = current->image->data();
    if (const auto code = api.cuptiRangeProfilerCounterDataImageInitialize(&params);
        code != CUPTI_SUCCESS)
      return call_failed(api, "cuptiRangeProfilerCounterDataImageInitialize", code);
    return {};
  }

  CUptiResult set_config(RangeMode mode) {
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
    auto code = api.cuptiRangeProfilerSetConfig(&params);
    if (code != CUPTI_SUCCESS && !is_final(code)) {
      params.targetNestingLevel = target_level == 0 ? 1 : 0;
      if (api.cuptiRangeProfilerSetConfig(&params) == CUPTI_SUCCESS) {
        target_level = params.targetNestingLevel;
        code = CUPTI_SUCCESS;
      }
    }
    if (code == CUPTI_SUCCESS) configured = true;
    return code;
  }

  // An object may take one configuration only: then a fresh one does.
  CuptiFailure configure(RangeMode mode) {
    const bool used = configured;
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

  CuptiFailure start(const PassPlan& plan, RangeMode mode, std::size_t max_ranges) {
    if (auto failure = enable(); failure.failed()) return failure;
    if (auto failure = prepare(plan); failure.failed()) return failure;
    if (auto failure = make_image(max_ranges); failure.failed()) return failure;
    if (auto failure = reset_image(); failure.failed()) return failure;
    if (auto failure = configure(mode); failure.failed()) return failure;
    GABLE_PARAMS(CUpti_RangeProfiler_Start, params);
    params.pRangeProfilerObject = object;
    if (const auto code = api.cuptiRangeProfilerStart(&params); code != CUPTI_SUCCESS)
      return call_failed(api, "cuptiRangeProfilerStart", code);
    return {};
  }

  CuptiFailure decode(std::uint64_t& dropped) {
    GABLE_PARAMS(CUpti_RangeProfiler_DecodeData, params);
    params.pRangeProfilerObject = object;
    if (auto failure = patiently("cuptiRangeProfilerDecodeData", api.cuptiRangeProfilerDecodeData,
                                 params, true);
        failure.failed())
      return failure;
    dropped = params.numOfRangeDropped;
    return {};
  }
};

RangeProfiler::RangeProfiler(ProfilerEngine& engine, CUcontext context, std::string chip)
    : state_(std::make_unique<State>(engine, context, std::move(chip))) {}

RangeProfiler::~RangeProfiler() {
  static_cast<void>(disable());
  if (!state_->pinned) return;
  static auto* const kept =
      new std::list<std::unique_ptr<State>>;  // reachable, so no leak is reported
  static auto* const mutex = new std::mutex;
  const std::lock_guard<std::mutex> hold(*mutex);
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

bool RangeProfiler::enabled() const { return state_->object != nullptr; }

std::uint64_t RangeProfiler::image_bytes() const {
  return state_->image_bytes.load(std::memory_order_relaxed);
}

}  // namespace gable

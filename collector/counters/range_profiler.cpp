// SPDX-License-Identifier: Apache-2.0
#include "collector/counters/range_profiler.h"

#include <algorithm>
#include <list>
#include <utility>

#include "analysis/base/mutex.h"
#include "analysis/events/quantities.h"
#include "collector/counters/range_profiler_state.h"
#include "collector/cupti/cupti_params.h"
#include "collector/cupti/current_context.h"
#include "collector/cupti/helpers.h"
#include "collector/cupti/nvperf.h"

namespace gable {
namespace {

CuptiFailure left_alone() {
  return {CUPTI_ERROR_UNKNOWN, "CUPTI has not returned from an earlier call."};
}

CuptiFailure still_open() {
  return {CUPTI_ERROR_UNKNOWN, "A range of CUPTI's could not be closed."};
}

// Whether anything at all was counted. Time goes by in an empty range as well.
bool counted(const RangeReading& reading, const std::vector<std::string>& metrics) {
  return std::any_of(reading.ranges.begin(), reading.ranges.end(), [&](const RangeValues& range) {
    for (std::size_t i = 0; i < range.values.size(); ++i) {
      const bool time = metrics[i].starts_with("gpu__time_") ||
                        metrics[i].find("__cycles_elapsed") != std::string::npos;
      if (range.values[i] > 0 && !time && !is_ratio(metrics[i])) return true;
    }
    return false;
  });
}

}  // namespace

ProfilerEngine::ProfilerEngine(const CuptiApi& api)
    : api_(api),
      patience_(api.helpers != nullptr ? api.helpers->patience : std::make_shared<Patience>()) {}

CuptiFailure ProfilerEngine::start() {
  const MutexLock hold(mutex_);
  if (asked_) return answer_;
  asked_ = true;
  if (!api_.can_profile) {
    answer_.code = CUPTI_ERROR_NOT_INITIALIZED;
    answer_.sentence = api_.why_not.empty() ? "This CUPTI cannot take counters." : api_.why_not;
    return answer_;
  }
  open_nvperf(api_.path);
  GABLE_PARAMS(CUpti_Profiler_Initialize, params);
  if (const auto code = GABLE_CALL(api_, cuptiProfilerInitialize, &params); code != CUPTI_SUCCESS)
    answer_ = call_failed(api_, "cuptiProfilerInitialize", code);
  return answer_;
}

bool ProfilerEngine::started() const {
  const MutexLock hold(mutex_);
  return asked_ && !answer_.failed();
}

RangeProfiler::RangeProfiler(ProfilerEngine& engine, CUcontext context, std::string chip)
    : state_(std::make_shared<State>(engine, context, std::move(chip))) {}

RangeProfiler::~RangeProfiler() {
  static_cast<void>(disable());
  if (!state_->pinned && !state_->patient.stuck()) return;
  static auto* const kept =
      new std::list<std::shared_ptr<State>>;  // reachable, so no leak is reported
  static auto* const mutex = new Mutex;
  const MutexLock hold(*mutex);
  kept->push_back(std::move(state_));
}

template <typename Action>
std::optional<CuptiFailure> RangeProfiler::patiently(Action action) {
  const auto failure = std::make_shared<CuptiFailure>();
  const auto answer = state_->patient.make(
      state_->context,
      [state = state_, failure, action] {
        *failure = guarded([&] { return action(*state); });
        return failure->code;
      },
      [state = state_] { state->let_go(); });
  if (answer) return std::move(*failure);
  state_->pinned = true;
  return std::nullopt;
}

// On the launch path: nothing is allocated.
std::optional<CuptiFailure> RangeProfiler::quickly(CuptiFailure (State::*action)()) {
  state_->quick = action;
  PatientCalls::Job job;
  job.run = [](void* data) {
    auto& state = *static_cast<State*>(data);
    state.quick_failure = guarded([&] { return (state.*state.quick)(); });
    return state.quick_failure.code;
  };
  job.late = [](void* data) { static_cast<State*>(data)->let_go(); };
  job.data = state_.get();
  job.owner = state_;
  if (state_->patient.make(state_->context, job)) return std::exchange(state_->quick_failure, {});
  state_->pinned = true;
  return std::nullopt;
}

template <typename Action>
bool RangeProfiler::succeeds_here(Action action) {
  const CurrentContext current(state_->context);
  if (guarded([&] { return action(*state_); }).failed()) return false;
  state_->patient.use_callers_thread();
  return true;
}

CuptiFailure RangeProfiler::start(const PassPlan& plan, RangeMode mode, std::size_t max_ranges) {
  return guarded([&]() -> CuptiFailure {
    const auto start = [&plan, mode, max_ranges](State& state) {
      return state.start(plan, mode, max_ranges);
    };
    const auto failure = patiently(start);
    if (!failure) return left_alone();
    // What a user has to mend is the same on every thread.
    if (!failure->failed() || !remedy_for(failure->code).empty() || state_->thread_tried ||
        state_->patient.on_callers_thread())
      return *failure;
    state_->thread_tried = true;
    if (disable().failed() || state_->patient.stuck()) return *failure;
    if (succeeds_here(start)) return {};
    const CurrentContext current(state_->context);
    static_cast<void>(state_->disable());
    return *failure;
  });
}

CuptiFailure RangeProfiler::push(const char* name) {
  return guarded([&]() -> CuptiFailure {
    // Of another thread's launch, which failed while this one waited for its turn.
    if (state_->runs_on) return still_open();
    state_->pushed = name;
    auto failure = quickly(&State::push);
    if (!failure) return left_alone();
    if (failure->failed() && !state_->patient.on_callers_thread() &&
        succeeds_here([](State& state) { return state.push(); }))
      return {};
    return *std::move(failure);
  });
}

// A range that stays open would forbid stopping, so a second call is tried.
CuptiFailure RangeProfiler::pop() {
  return guarded([&]() -> CuptiFailure {
    auto failure = quickly(&State::pop);
    if (!failure) return left_alone();
    if (!failure->failed() || succeeds_here([](State& state) { return state.pop(); })) return {};
    state_->runs_on = true;
    return *std::move(failure);
  });
}

CuptiFailure RangeProfiler::close_range() { return pop(); }

CuptiFailure RangeProfiler::stop() {
  return guarded([&]() -> CuptiFailure {
    if (state_->runs_on) return still_open();
    const auto stop = [](State& state) { return state.stop(); };
    auto failure = patiently(stop);
    if (!failure) return left_alone();
    if (!failure->failed() || !state_->started) return *failure;
    if (succeeds_here(stop)) return {};
    if (state_->started) state_->runs_on = true;
    return *failure;
  });
}

CuptiFailure RangeProfiler::read(Reading& reading, bool launched) {
  reading = {};
  return guarded([&]() -> CuptiFailure {
    const auto own = std::make_shared<Reading>();
    const auto read = [own](State& state) { return state.read(*own); };
    const auto failure = patiently(read);
    if (!failure) return left_alone();
    if (failure->failed() && (state_->decoded || !succeeds_here(read))) return *failure;
    if (launched && !state_->thread_proven && !state_->patient.on_callers_thread()) {
      if (!counted(*own, state_->current->plan->metrics) && own->dropped == 0)
        return leave_helper();
      state_->thread_proven = true;
    }
    reading = std::move(*own);
    return {};
  });
}

// Some CUPTI may count only for the thread that started it.
CuptiFailure RangeProfiler::leave_helper() {
  if (auto failure = disable(); failure.failed()) return failure;
  state_->patient.use_callers_thread();
  // With no code: nothing failed.
  return {CUPTI_SUCCESS,
          "CUPTI counted nothing in it when a thread of Gable's asked; from now on the program's "
          "own threads ask."};
}

CuptiFailure RangeProfiler::disable() {
  if (state_->object == nullptr || state_->runs_on || state_->patient.stuck()) return {};
  return guarded([&]() -> CuptiFailure {
    auto failure = patiently([](State& state) { return state.disable(); });
    return failure ? *std::move(failure) : left_alone();
  });
}

void RangeProfiler::abandon() {
  if (state_->object.exchange(nullptr) != nullptr) state_->pinned = true;
}

bool RangeProfiler::runs_on() const { return state_->runs_on; }

CuptiFailure RangeProfiler::not_disabled() const { return state_->why_not_disabled(); }

std::size_t RangeProfiler::most_ranges() const { return state_->most_ranges; }

CuptiFailure RangeProfiler::refused_ranges() const {
  const MutexLock hold(state_->mutex);
  return state_->refused_ranges;
}

void RangeProfiler::limit_ranges(std::size_t most, const CuptiFailure& why) {
  most = std::max(most, State::kFewestRanges);
  if (most >= state_->most_ranges) return;
  state_->most_ranges = most;
  const MutexLock hold(state_->mutex);
  state_->refused_ranges = why;
}

bool RangeProfiler::enabled() const { return state_->object != nullptr; }

std::uint64_t RangeProfiler::image_bytes() const {
  return state_->image_bytes.load(std::memory_order_relaxed);
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// CUPTI's range profiler for one context: single-pass configurations, one after the other. It
// follows CUPTI's rules of lifetime: configuration images, counter images and range names stay
// alive until the profiler is disabled, and longer.
//
// Threads: one call at a time per object (CounterWindow sees to that), from any threads. All of
// CUPTI's calls for an object are made on one thread of ours, with its context current, while the
// caller waits a bounded time; where that thread is refused, or CUPTI counts nothing for it, on the
// callers' threads. No member throws; what fails comes back as a sentence with its code. Once CUPTI
// does not return, every call fails at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/mutex.h"
#include "collector/cupti/cupti_api.h"
#include "collector/cupti/patient_calls.h"
#include "collector/cupti/remedies.h"
#include "collector/metrics/plan.h"
#include "collector/queue/range_join.h"

namespace gable {

class KeptImages;

// The profiler engine of the process. Starting it silently drops activity subscriptions: enable
// their kinds again afterwards.
class ProfilerEngine {
 public:
  explicit ProfilerEngine(const CuptiApi& api);
  // cuptiProfilerInitialize, once; later calls return the first answer.
  [[nodiscard]] CuptiFailure start();
  [[nodiscard]] bool started() const;
  [[nodiscard]] const CuptiApi& api() const { return api_; }
  // Where to keep counter images; null keeps none. Call it before the first window.
  void keep_images(KeptImages* images) { images_ = images; }
  [[nodiscard]] KeptImages* images() const { return images_; }
  // The time limit for CUPTI calls that may hang.
  [[nodiscard]] const std::shared_ptr<Patience>& patience() const { return patience_; }

 private:
  const CuptiApi& api_;
  const std::shared_ptr<Patience> patience_;
  KeptImages* images_ = nullptr;
  mutable Mutex mutex_;  // never taken in a CUPTI callback
  bool asked_ GABLE_GUARDED_BY(mutex_) = false;
  CuptiFailure answer_ GABLE_GUARDED_BY(mutex_);
};

class RangeProfiler {
 public:
  using Values = RangeValues;
  using Reading = RangeReading;

  // `engine` and everything it refers to must outlive this. `chip` as CUPTI names it: "GH100".
  RangeProfiler(ProfilerEngine& engine, CUcontext context, std::string chip);
  ~RangeProfiler();  // disables, then releases images and host objects
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  // Enables the profiler when it is not, resets the counter image, sets the configuration (with a
  // fresh profiler object where a second one is refused) and starts. `plan` must outlive this
  // object.
  [[nodiscard]] CuptiFailure start(const PassPlan& plan, RangeMode mode, std::size_t max_ranges);
  // `name` must stay valid until disable.
  [[nodiscard]] CuptiFailure push(const char* name);
  [[nodiscard]] CuptiFailure pop();
  [[nodiscard]] CuptiFailure close_range();  // pops the open range
  [[nodiscard]] CuptiFailure stop();
  // After stop: decodes (this waits for the context) and evaluates every range. `launched`: the
  // window should have values. If it has none, CUPTI is called on the caller's thread instead of
  // the helper's from then on; that failure has no code.
  [[nodiscard]] CuptiFailure read(Reading& reading, bool launched = true);
  // Ends profiling of the context: its launches run at full speed again.
  [[nodiscard]] CuptiFailure disable();
  // The context is gone, or the process is a forked child: forget the profiler object without
  // calling CUPTI.
  void abandon();

  // CUPTI still counts although it was told to stop; no other CUPTI call is allowed.
  [[nodiscard]] bool runs_on() const;

  // The failure of disable(): the profiler may still be enabled, and start() returns the same
  // failure from then on.
  [[nodiscard]] CuptiFailure not_disabled() const;

  // The most ranges CUPTI takes, as far as it has refused more; otherwise the type's maximum.
  [[nodiscard]] std::size_t most_ranges() const;
  // CUPTI's answer when it refused more ranges.
  [[nodiscard]] CuptiFailure refused_ranges() const;
  [[nodiscard]] bool enabled() const;
  [[nodiscard]] std::uint64_t image_bytes()
      const;  // the most that counter images took, host memory
  // No more ranges from here on, but never fewer than are worth a window.
  void limit_ranges(std::size_t most, const CuptiFailure& why);

 private:
  struct State;
  // Runs `action` on the state's thread; returns nothing if CUPTI did not return.
  template <typename Action>
  std::optional<CuptiFailure> patiently(Action action);
  std::optional<CuptiFailure> quickly(CuptiFailure (State::*action)());
  // Retries on this thread an action that failed on the helper's. If it works, returns true, and
  // the caller's thread is used from then on.
  template <typename Action>
  bool succeeds_here(Action action);
  CuptiFailure leave_helper();

  std::shared_ptr<State> state_;  // shared with what runs on the helper thread
};

}  // namespace gable

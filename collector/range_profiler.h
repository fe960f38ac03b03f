// SPDX-License-Identifier: Apache-2.0
// CUPTI's range profiler for one context: single-pass configurations, one after the other. It
// follows CUPTI's rules of lifetime: configuration images, counter images and range names stay
// alive until the profiler is disabled, and longer.
//
// Threads: no locks here; one call at a time per object (CounterWindow sees to that). push and pop
// may come from other threads than start. No member throws; what fails comes back as a sentence
// with its code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/mutex.h"
#include "collector/cupti_api.h"
#include "collector/patient_calls.h"
#include "collector/plan.h"
#include "collector/range_join.h"
#include "collector/remedies.h"

namespace gable {

class KeptImages;

// The profiler engine of the process. Starting it drops activity subscriptions silently: enable
// their kinds anew after.
class ProfilerEngine {
 public:
  explicit ProfilerEngine(const CuptiApi& api) : api_(api) {}
  // cuptiProfilerInitialize, once; later calls return the first answer.
  [[nodiscard]] CuptiFailure start();
  [[nodiscard]] bool started() const;
  [[nodiscard]] const CuptiApi& api() const { return api_; }
  // Where counter images go that are to be kept; null: nowhere. Before the first window.
  void keep_images(KeptImages* images) { images_ = images; }
  [[nodiscard]] KeptImages* images() const { return images_; }
  // For calls that may hang.
  [[nodiscard]] PatientCalls& patient() { return patient_; }

 private:
  const CuptiApi& api_;
  PatientCalls patient_;
  KeptImages* images_ = nullptr;
  mutable Mutex mutex_;  // taken by nothing that CUPTI calls back
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
  // The same on a thread that may have another context.
  [[nodiscard]] CuptiFailure close_range();
  [[nodiscard]] CuptiFailure stop();
  // After stop: decodes (this waits for the context) and evaluates every range. stop, read and
  // disable give up on a CUPTI that does not answer; while it does not, every call fails.
  [[nodiscard]] CuptiFailure read(Reading& reading);
  // Ends profiling of the context: its launches run at full speed again.
  [[nodiscard]] CuptiFailure disable();
  // The context is gone, or the process is a forked child: forget the profiler object without
  // calling CUPTI.
  void abandon();

  // CUPTI counts on although it was told to stop: nothing more may be asked of it.
  [[nodiscard]] bool runs_on() const;

  // What disable() said when it failed: the profiler may still be enabled, and start() says the
  // same from then on.
  [[nodiscard]] const CuptiFailure& not_disabled() const;

  // Ranges that CUPTI takes at most, as far as it has refused more; else as many as fit the type.
  [[nodiscard]] std::size_t most_ranges() const;
  // How it did.
  [[nodiscard]] const CuptiFailure& refused_ranges() const;
  [[nodiscard]] bool enabled() const;
  [[nodiscard]] std::uint64_t image_bytes() const;  // counter images held, host memory

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gable

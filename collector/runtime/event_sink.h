// SPDX-License-Identifier: Apache-2.0
// Collects events from all threads: empties their rings into the profile, under the profile's lock,
// and knows the launch sequence of each step.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/events/function_table.h"
#include "analysis/profile/key_table.h"
#include "analysis/profile/profile.h"
#include "analysis/recorder/run_recorder.h"
#include "collector/layers/thread_state.h"
#include "collector/process/clock.h"

namespace gable {

// Order-free hash of a step's launches: threads interleave differently from step to step.
struct StepSummary {
  std::uint64_t hash = 0;
  std::uint64_t launches = 0;
};

class EventSink {
 public:
  EventSink(LayerTree& layers, FunctionTable& functions, ProfileLimits limits);

  // Adds an event, on an application thread. A thread empties its own full ring: nothing is lost
  // and memory is bounded.
  void emit(ThreadState& thread, const Event& event) {
    if (thread.ring.push(event)) return;
    drain();
    thread.ring.push(event);
  }

  void drain();
  // Counts of launches and other events so far, and of windows kept.
  struct Progress {
    std::uint64_t events = 0, windows = 0;
  };
  [[nodiscard]] Progress progress() {
    const MutexLock hold(mutex_);
    return progress_;
  }
  // Drains, then tells what was launched in step `step`.
  [[nodiscard]] StepSummary summary(std::uint32_t step);
  // Adds the ranges that ended since the last call to `window`; with kNoWindow they only count.
  void take_spans(WindowId window);
  // Estimated cost in ns of Gable's callbacks on all threads since the last call.
  [[nodiscard]] std::uint64_t take_overhead_ns();

  // Whether calls in the open window still become events; false once there are too many.
  [[nodiscard]] bool takes_calls() const { return takes_calls_.load(std::memory_order_relaxed); }

  // Also writes everything, windows included, to `recorder`; called before the first event.
  void record(std::unique_ptr<RunRecorder> recorder) { recorder_ = std::move(recorder); }
  // The recorder, or null if nothing is recorded. Use only inside with_profile.
  [[nodiscard]] RunRecorder* recorder() const { return recorder_.get(); }

  // Begins a window and returns whether its calls are recorded; `step`: they may be.
  [[nodiscard]] bool begin_window(WindowId window, Phase phase, bool step) {
    const MutexLock hold(mutex_);
    drain_locked();
    profile_.begin_window(window, phase);
    const bool calls = profile_.records_calls(window, step);
    takes_calls_.store(calls, std::memory_order_relaxed);
    return calls;
  }
  // Ends the window in the profile and in the recording.
  void end_window(const WindowEnd& end) {
    const MutexLock hold(mutex_);
    drain_locked();
    end_window_locked(end);
  }
  // The same, inside with_profile.
  void end_window_locked(const WindowEnd& end) {
    mutex_.assert_held();
    profile_.end_window(end);
    if (end.keep && measures(end.phase.kind)) ++progress_.windows;
    if (recorder_ != nullptr) recorder_->end_window(end);
  }

  // Drains, then calls use(profile) under the lock. CUPTI is never called within.
  template <typename Use>
  auto with_profile(Use&& use) {
    const MutexLock hold(mutex_);
    drain_locked();
    return use(profile_);
  }

 private:
  void drain_locked() GABLE_REQUIRES(mutex_);
  void take_spans_locked(WindowId window) GABLE_REQUIRES(mutex_);
  void take(const Event& event) GABLE_REQUIRES(mutex_);
  void take(const CollectiveMessage& message) GABLE_REQUIRES(mutex_);
  void count(std::uint32_t step, const LaunchKey& key) GABLE_REQUIRES(mutex_);

  std::atomic<bool> takes_calls_{false};
  Mutex mutex_;
  Profile profile_ GABLE_GUARDED_BY(mutex_);
  Progress progress_ GABLE_GUARDED_BY(mutex_);
  LaunchKey last_launch_ GABLE_GUARDED_BY(mutex_);
  std::uint32_t last_correlation_ GABLE_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<RunRecorder> recorder_;
  const TickScale tick_scale_;
  struct Numbered {
    std::uint32_t step = 0;
    StepSummary summary;
  };
  // Indexed by step number modulo 4, so that a late event of an earlier step is still counted.
  Numbered steps_[4] GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

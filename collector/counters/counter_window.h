// SPDX-License-Identifier: Apache-2.0
// One counter window of one context: ranges around launches, joined to them again and verified when
// it ends. A window that does not verify is thrown away whole, with the sentence that says why.
//
// Threads: begin, end and close from one thread at a time; before_launch and after_launch from any
// number of threads. In user mode at most one launch per context is between its before_launch and
// after_launch: others wait while turns go on. When one launch has had its turn for kTurnTimeout
// (it is blocked in the driver), theirs stay without a range and the window is thrown away. The
// mutex inside is held for a few instructions, never during a CUPTI
// call, and nothing else takes it: the buffer callbacks and the NVTX path never wait for a launch.
// end() waits up to kTurnTimeout for a launch that is still on its way. No member throws.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/events/events.h"
#include "collector/counters/range_profiler.h"

namespace gable {

class CounterWindow {
 public:
  static constexpr std::chrono::milliseconds kTurnTimeout{500};

  // `engine` must outlive this. `chip` as CUPTI names it.
  CounterWindow(ProfilerEngine& engine, CUcontext context, std::string chip);
  CounterWindow(const CounterWindow&) = delete;
  CounterWindow& operator=(const CounterWindow&) = delete;

  // `plan` must outlive this object. A failure leaves the window closed, but the profiler may be
  // enabled: call close(). With more than `max_ranges` launches the window is thrown away.
  [[nodiscard]] CuptiFailure begin(const PassPlan& plan, std::size_t max_ranges, RangeMode mode);

  // Called at a launch's ENTER. If it returns true, after_launch must follow at the launch's EXIT
  // on the same thread. In automatic mode every launch of the context must come here, in user mode
  // only those that are wanted. `parts`: how many ranges CUPTI makes for the launch, if it makes
  // them itself; 0: unknown. `graph`: the launch is a CUDA graph's.
  [[nodiscard]] bool before_launch(std::uint32_t ordinal, const LaunchKey& key,
                                   std::uint32_t parts = 1, bool graph = false);
  // The same for layer ranges; a range lasts as long as launches have the same key.
  struct Launch {
    LaunchKey key;             // range_key() of the layer
    std::uint64_t blocks = 0;  // of the launch; 0: unknown
    FunctionId function = 0;
    const void* stream = nullptr;
  };
  [[nodiscard]] bool before_launch(std::uint32_t ordinal, const Launch& launch);
  // Closes the open range, before something that must not be in one.
  void close_range();
  // `launched`: the driver's call succeeded. A failed launch has no values and does not count as
  // missing.
  void after_launch(bool launched);

  // Stops, decodes, joins ranges to launches (user: by name, automatic: by CUPTI's own count) and
  // verifies.
  [[nodiscard]] CounterResult end();

  // Stops without reading, from any thread, even during a launch.
  [[nodiscard]] CuptiFailure drop();
  // Disables the profiler after the last counter window.
  [[nodiscard]] CuptiFailure close();
  // The context is being destroyed or the process forked: forget everything without calling CUPTI.
  void abandon();

  [[nodiscard]] bool active() const;   // between begin and end
  [[nodiscard]] bool enabled() const;  // the profiler is enabled on the context
  [[nodiscard]] bool runs_on() const;  // the profiler could not be stopped
  [[nodiscard]] std::size_t most_ranges() const { return profiler_.most_ranges(); }
  [[nodiscard]] CuptiFailure refused_ranges() const { return profiler_.refused_ranges(); }
  // Why the profiler may still be enabled after close(); no failure if it is disabled.
  [[nodiscard]] CuptiFailure not_closed() const { return profiler_.not_disabled(); }
  [[nodiscard]] std::uint64_t image_bytes() const;
  void limit_ranges(std::size_t most, const CuptiFailure& why) {
    profiler_.limit_ranges(most, why);
  }

 private:
  bool take_turn(UniqueLock& lock) GABLE_REQUIRES(mutex_);
  void fail(const CuptiFailure& failure);
  void end_layer_launch(bool launched);

  RangeProfiler profiler_;
  const PassPlan* plan_ = nullptr;
  RangeMode mode_ = RangeMode::user;
  std::size_t max_ranges_ = 0;

  mutable Mutex mutex_;  // guards what follows
  Condition turn_free_;
  bool active_ GABLE_GUARDED_BY(mutex_) = false;
  // A launch is between its ENTER and its EXIT (user mode).
  bool turn_taken_ GABLE_GUARDED_BY(mutex_) = false;
  bool range_open_ GABLE_GUARDED_BY(mutex_) = false;  // a layer's range is open
  bool several_streams_ GABLE_GUARDED_BY(mutex_) = false;
  std::uint64_t turns_ GABLE_GUARDED_BY(mutex_) = 0;  // number of turns taken so far
  std::thread::id turn_owner_ GABLE_GUARDED_BY(mutex_);
  std::vector<RangedLaunch> launches_ GABLE_GUARDED_BY(mutex_);  // in the order of their turns
  std::uint64_t unranged_ GABLE_GUARDED_BY(mutex_) = 0;
  std::uint64_t uncountable_ GABLE_GUARDED_BY(mutex_) = 0;
  std::size_t parts_ GABLE_GUARDED_BY(mutex_) = 0;  // sum of the launches' `parts`
  // Ranges of layers.
  std::uint64_t last_blocks_ GABLE_GUARDED_BY(mutex_) = 0;   // of the launch with the turn
  const void* stream_ GABLE_GUARDED_BY(mutex_) = nullptr;    // stream of the window's first launch
  CuptiFailure failure_ GABLE_GUARDED_BY(mutex_);            // the first push or pop that failed
  std::vector<const char*> names_ GABLE_GUARDED_BY(mutex_);  // "0", "1" …
};

}  // namespace gable

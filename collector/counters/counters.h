// SPDX-License-Identifier: Apache-2.0
// The counter windows of all contexts. A context joins a window at its first launch in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/mutex.h"
#include "collector/counters/counter_window.h"
#include "collector/cupti/gpu_watch.h"
#include "collector/metrics/plan.h"

namespace gable {

class Counters {
 public:
  // `gpus`: tell what counters take of their memory. `range_function`: of range_key(), where ranges
  // are layers.
  Counters(const CuptiApi& api, GpuWatch& gpus, RangeMode mode, FunctionId range_function = 0)
      : engine_(api),
        gpus_(gpus),
        mode_(mode),
        by_layers_(mode == RangeMode::layer),
        range_function_(range_function) {}

  // The plan of the program's chip; must outlive this object. Once, before the first window.
  void set_plan(const MetricPlan* plan) { plan_.store(plan, std::memory_order_release); }

  // From now on the first counter images of each phase are kept there. Before the first window.
  void keep_images(KeptImages* images) { engine_.keep_images(images); }

  struct Place {
    CUcontext context = nullptr;
    std::uint32_t uid = 0;  // of the context
    std::int32_t device = -1;
    const void* stream = nullptr;  // of a launch
  };
  // Whether begin() was called for the window on this context, whatever came of it.
  [[nodiscard]] bool begun(const Place& place, WindowId window);
  // Begins the window on the context. Never at the same time as another begin() or finish(); a
  // failure is said once per window and context.
  [[nodiscard]] CuptiFailure begin(const Place& place, WindowId window, Phase phase,
                                   std::size_t max_ranges);
  // Whether the profiler is between its start and its end on some context.
  [[nodiscard]] bool active();
  // Ends the open window on every context without reading it.
  CuptiFailure drop();
  // At a launch's ENTER, on the launching thread; true when it has a range. `wanted` is what -k
  // says; `kernels`: how many a graph has, 0: nobody knows.
  [[nodiscard]] bool before_launch(const Place& place, std::uint32_t ordinal, const LaunchKey& key,
                                   bool wanted, std::uint32_t kernels = 1);
  // Under which key a launch is counted: its own, or that of its layer's ranges.
  [[nodiscard]] LaunchKey counted_key(const LaunchKey& key) const;
  // Before a capture: no range may stay open in it.
  void close_ranges();
  [[nodiscard]] RangeMode mode() const { return mode_.load(std::memory_order_relaxed); }
  // From the next window on.
  void set_mode(RangeMode mode) { mode_.store(mode, std::memory_order_relaxed); }
  // What counters are of: layers, or single launches. A window that is a trial differs.
  [[nodiscard]] bool by_layers() const { return by_layers_.load(std::memory_order_relaxed); }
  void count_layers(bool on) { by_layers_.store(on, std::memory_order_relaxed); }
  // At its EXIT, when it was ranged.
  void after_launch(const Place& place, bool launched);

  // Ends the open window on every context: stops, decodes, joins.
  [[nodiscard]] CountersOutcome finish();
  // No further counter windows for now: launches run at full speed again. The first failure, if
  // any.
  CuptiFailure close();
  // Ranges that a window can have on every context, as far as CUPTI has refused more.
  std::size_t most_ranges();
  CuptiFailure refused_ranges();  // how it did
  // Why a profiler may still be enabled after close(), also long after; no failure: none is.
  CuptiFailure not_closed();
  // The context is about to be destroyed (nullptr: all of them). What was collected in it is kept
  // for finish().
  void end_context(CUcontext context);
  // The same without a word to CUPTI; what was collected is lost.
  void abandon_context(CUcontext context);
  // CUPTI has not returned from a call, or could not be told to stop counting: nothing else may be
  // asked of it. The first may pass.
  [[nodiscard]] bool hangs();
  [[nodiscard]] bool may_return();  // CUPTI does not return, but may still
  [[nodiscard]] bool runs_on();
  [[nodiscard]] std::uint64_t image_bytes();
  // Memory of the GPUs that was taken while the profilers were enabled for the first time; empty
  // when nobody knows. Whatever else took memory meanwhile is in it.
  [[nodiscard]] std::optional<std::uint64_t> gpu_bytes();

 private:
  struct Context {
    Context(ProfilerEngine& engine, const Place& p, const std::string& chip)
        : place(p), window(engine, p.context, chip) {}
    Place place;
    CounterWindow window;
    std::atomic<WindowId> begun{kNoWindow};
    std::atomic<bool> usable{false};  // the begun window collects
    std::atomic<bool> gone{false};
    bool had = false;  // CUPTI has taken its memory here once; of the thread that begins windows
    std::optional<std::uint64_t> gpu_bytes;  // guarded by mutex_
  };
  Context* find(const Place& place, bool create);
  std::vector<Context*> all();

  CuptiFailure begin_on(Context& context, Phase phase, std::size_t max_ranges);

  ProfilerEngine engine_;
  GpuWatch& gpus_;
  std::atomic<RangeMode> mode_;
  std::atomic<bool> by_layers_;
  const FunctionId range_function_;
  std::atomic<const MetricPlan*> plan_{nullptr};
  // Guards the two containers. Never held while calling CUPTI.
  Mutex mutex_;
  std::deque<Context> contexts_ GABLE_GUARDED_BY(mutex_);
  // Of contexts that ended within a window.
  std::vector<CounterResult> early_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

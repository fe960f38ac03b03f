// SPDX-License-Identifier: Apache-2.0
// The counter windows of all contexts. A context joins a window at its first launch in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/mutex.h"
#include "collector/counters/counter_window.h"
#include "collector/cupti/gpu_watch.h"
#include "collector/metrics/plan.h"

namespace gable {

class Counters {
 public:
  // `gpus` says how much GPU memory the counters take. `range_function`: for range_key(), if ranges
  // are layers.
  Counters(const CuptiApi& api, GpuWatch& gpus, RangeMode mode, FunctionId range_function = 0)
      : engine_(api),
        gpus_(gpus),
        mode_(mode),
        by_layers_(mode == RangeMode::layer),
        range_function_(range_function) {}

  // The plan of the program's chip; must outlive this object. Once, before the first window.
  void set_plan(const MetricPlan* plan) { plan_.store(plan, std::memory_order_release); }

  // Keeps the first counter images of each phase in `images`. Call it before the first window.
  void keep_images(KeptImages* images) { engine_.keep_images(images); }

  struct Place {
    CUcontext context = nullptr;
    std::uint32_t uid = 0;  // CUPTI's id of the context
    std::int32_t device = -1;
    const void* stream = nullptr;  // the launch's stream
  };
  // Whether begin() was called for the window on this context, whatever came of it.
  [[nodiscard]] bool begun(const Place& place, WindowId window);
  // Begins the window on the context. Must not overlap another begin() or finish(); a failure is
  // reported once per window and context.
  [[nodiscard]] CuptiFailure begin(const Place& place, WindowId window, Phase phase,
                                   std::size_t max_ranges);
  // How many contexts of the place's device take turns.
  [[nodiscard]] std::uint32_t sharing(const Place& place);
  // Whether the profiler is between its start and its end on some context.
  [[nodiscard]] bool active();
  // Ends the open window on every context without reading it.
  CuptiFailure drop();
  // Called at a launch's ENTER on the launching thread; returns whether the launch has a range.
  // `wanted`: LaunchFilter selects it; `kernels`: how many kernels a graph has, 0: unknown.
  [[nodiscard]] bool before_launch(const Place& place, std::uint32_t ordinal, const LaunchKey& key,
                                   bool wanted, std::uint32_t kernels = 1);
  // The key a launch is counted under: its own or its layer's.
  [[nodiscard]] LaunchKey counted_key(const LaunchKey& key) const;
  // Closes open ranges before a capture, which may not contain any.
  void close_ranges();
  [[nodiscard]] RangeMode mode() const { return mode_.load(std::memory_order_relaxed); }
  // Takes effect with the next window.
  void set_mode(RangeMode mode) { mode_.store(mode, std::memory_order_relaxed); }
  // Whether counters are taken per layer rather than per launch; a trial window may differ.
  [[nodiscard]] bool by_layers() const { return by_layers_.load(std::memory_order_relaxed); }
  void count_layers(bool on) { by_layers_.store(on, std::memory_order_relaxed); }
  // Called at the EXIT of a launch with a range.
  void after_launch(const Place& place, bool launched);

  // Ends the open window on every context: stops, decodes, joins.
  [[nodiscard]] CountersOutcome finish();
  // Disables the profilers until the next counter window, so launches run at full speed again.
  // Returns the first failure, if any.
  CuptiFailure close();
  // The most ranges a window can have on every context, given what CUPTI has refused so far.
  std::size_t most_ranges();
  CuptiFailure refused_ranges();  // CUPTI's answer when it refused more
  // Why a profiler may still be enabled, even long after close(); no failure if none is.
  CuptiFailure not_closed();
  // The context is about to be destroyed (nullptr: all of them). What was collected in it is kept
  // for finish().
  void end_context(CUcontext context);
  // The same without calling CUPTI; what was collected is lost.
  void abandon_context(CUcontext context);
  // hangs(): CUPTI has not returned from a call, which may pass. runs_on(): CUPTI could not be told
  // to stop counting. In both cases no other CUPTI call is allowed.
  [[nodiscard]] bool hangs();
  [[nodiscard]] bool may_return();  // a CUPTI call is overdue but may still return
  [[nodiscard]] bool runs_on();
  [[nodiscard]] std::uint64_t image_bytes();
  // GPU memory in bytes taken while the profilers were first enabled; empty if unknown. It includes
  // whatever else took memory meanwhile.
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
    std::map<std::pair<PhaseKind, std::uint8_t>, std::uint64_t> turns;  // had; guarded by mutex_
    bool had = false;  // CUPTI has allocated its memory here; used only by the thread that begins
                       // windows
    std::optional<std::uint64_t> gpu_bytes;  // guarded by mutex_
  };
  Context* find(const Place& place, bool create);
  std::vector<Context*> all();

  // Whether the context is counted in the window. CUPTI counts one context of a device at a time
  // (on an H200 the second one's Start returns HARDWARE_BUSY), so they take turns.
  bool has_turn(const Context& context, WindowId window, Phase phase);
  // Disables the profilers of the device's other contexts, which have had their turns.
  CuptiFailure make_way(const Context& context);
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
  struct Turn {
    WindowId window = kNoWindow;
    const Context* context = nullptr;
  };
  std::map<std::int32_t, Turn> turns_ GABLE_GUARDED_BY(mutex_);  // by device
  // Results of contexts that ended within a window.
  std::vector<CounterResult> early_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Steps and windows of a run, as the rest of Gable sees them: borders come in, and launches ask
// where they belong. Puts together what each part does by itself:
//   StepBorders       where windows begin and end
//   WindowQueue       which window is open and what it collects
//   WindowDriver      makes CUPTI follow, within the next launch
//   WindowReader      reads the counters of windows that ended
//   CountingFallback  how counters are taken where CUPTI refuses
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analysis/base/no_cancel.h"
#include "collector/windows/counting_fallback.h"
#include "collector/windows/record_clock.h"
#include "collector/windows/step_borders.h"
#include "collector/windows/window_driver.h"
#include "collector/windows/window_queue.h"
#include "collector/windows/window_reader.h"

namespace gable {

class Windows final : public RangeListener {
 public:
  struct Hooks {
    std::function<const MetricPlan*()> wait_for_plan;  // nullptr: no counters available
    std::function<const MetricPlan*()> known_plan;     // returns nullptr if it is not made yet
    std::function<void()> over;            // the queue is complete and CUPTI is quiet again
    std::function<void()> records_wanted;  // records should be requested soon
    std::function<void()> records_now;     // requests all records and waits a bounded time
    std::function<bool(const LaunchKey&)> counted;  // keys that LaunchFilter selects; empty: all
  };
  Windows(Runtime& rt, const CuptiApi& api, EventSink& sink, Counters& counters,
          ActivityStream& activity, const Hooks& hooks);

  // --- borders
  void step_range_begin() override { borders_.step_range_begin(); }
  void step_range_end() override { borders_.step_range_end(); }
  void range_begins(std::uint32_t level, LayerId layer, const void* thread) override {
    borders_.range_begins(level, layer, thread);
  }
  void range_ends(std::uint32_t level, const void* thread) override {
    borders_.range_ends(level, thread);
  }
  void communicator_made(Communicator which) override;
  [[nodiscard]] bool communicator_seen() const { return fallback_.communicator_seen(); }
  // Ends one step and begins the next, for gable_step() in C or Python.
  void step_point(StepPoint point = StepPoint::call, bool anew = false) {
    borders_.step_point(point, anew);
  }
  void profiler_start() { borders_.profiler_start(); }
  void profiler_stop() { borders_.profiler_stop(); }
  // Same as WindowQueue::step_to_describe().
  [[nodiscard]] std::optional<std::uint32_t> step_to_describe(bool put_off) {
    return queue_.step_to_describe(put_off);
  }

  // --- the launch path; see StepBorders and WindowDriver
  // Called first at a launch's ENTER; `kernels`: how many a graph has.
  void at_launch(ThreadState& thread, const LaunchKey& key, std::uint32_t kernels = 1) {
    borders_.at_launch(thread, key, kernels);
    settle_pending();
  }
  void settle_pending() { (void)driver_.settle_pending(); }
  void before_capture() { driver_.before_capture(); }
  void before_collective() { driver_.before_collective(); }
  void before_graph() { driver_.before_graph(); }
  using Entered = WindowDriver::Entered;
  [[nodiscard]] Entered enter(ThreadState& thread, const Counters::Place& place,
                              std::uint32_t correlation) {
    return driver_.enter(thread, place, correlation);
  }
  [[nodiscard]] Entered enter_as_it_is(ThreadState& thread, std::uint32_t correlation) {
    return driver_.enter_as_it_is(thread, correlation);
  }
  static void leave(ThreadState& thread) { LaunchGate::leave(thread); }
  [[nodiscard]] bool range_launch(const Counters::Place& place, const LaunchKey& key, bool wanted,
                                  std::uint32_t kernels = 1) {
    return driver_.range_launch(place, key, wanted, kernels);
  }
  void launch_ranged(const Counters::Place& place, bool launched) {
    const NoCancel hold;
    counters_.after_launch(place, launched);
  }
  // Marks a flaw that spoils the open window.
  void flaw(WindowFlaw what) {
    queue_.flaw(what);
    if (what == kModuleLoaded) driver_.module_loaded();
  }
  void context_ends(CUcontext context) { driver_.context_ends(context); }

  // --- queues
  // Opens a further queue, not on an application thread; returns false if the previous one is not
  // over.
  [[nodiscard]] bool reopen(const Schedule& schedule);
  // Restarts the queue and discards what was collected; returns false if it is over.
  bool begin_block(const Schedule& schedule) { return borders_.begin_block(schedule); }
  void end_block();  // completes the queue, whatever is missing
  void check_progress(std::chrono::milliseconds patience) { driver_.check_progress(patience); }
  // Closes the open window when the process or its context ends. On an application thread.
  void shut_down(const std::string& why);  // `why`: why an open step is not kept
  // Tells the user everything still due, because the process ends in an unusual way.
  void say_what_is_left() { fallback_.say_what_is_left(); }
  void keep_what_was_measured() { borders_.keep_what_was_measured(); }

  // --- what the report tells
  // Time in ns on the clock of CUPTI's records; 0: unknown.
  [[nodiscard]] std::uint64_t timestamp() { return clock_.now(); }
  // Time that changes took on the program's threads so far, including waits for each other.
  [[nodiscard]] std::uint64_t changes_ns() { return driver_.turns().spent_ns(); }
  [[nodiscard]] bool steps_known() const { return queue_.by_steps(); }
  struct Counts : WindowQueue::Counts {
    Border border = Border::launches;
    std::string border_name;   // as in RunInfo::steps
    std::uint32_t period = 0;  // launches of the last period that was followed; 0: none
  };
  [[nodiscard]] Counts counts();

 private:
  Runtime& rt_;
  Counters& counters_;
  RecordClock clock_;
  WindowQueue queue_;
  StepBorders borders_;
  CountingFallback fallback_;
  WindowReader reader_;
  WindowDriver driver_;
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Makes CUPTI follow the queue. A change is announced at a border, on whatever thread that is, and
// carried out by the next launch, on its own thread with its context current: the one place from
// which CUPTI's profiler is known to accept calls. Every other launch waits meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collector/counters/counters.h"
#include "collector/cupti/activity_stream.h"
#include "collector/runtime/launch_gate.h"
#include "collector/windows/change_turn.h"
#include "collector/windows/counting_fallback.h"
#include "collector/windows/record_clock.h"
#include "collector/windows/window_queue.h"
#include "collector/windows/window_reader.h"

namespace gable {

class WindowDriver {
 public:
  struct Hooks {
    std::function<void()> over;         // the queue is complete and CUPTI is quiet again
    std::function<void()> records_now;  // requests all records and waits a bounded time
  };
  WindowDriver(Runtime& rt, EventSink& sink, Counters& counters, ActivityStream& activity,
               WindowQueue& queue, CountingFallback& fallback, WindowReader& reader,
               RecordClock& clock, Hooks hooks);

  // --- at a launch
  // Carries out the requested changes; returns false if that is not possible now.
  bool settle_pending() {
    return !rt_.hot.pending.load(std::memory_order_acquire) || apply_pending();
  }
  // The step and the window of a launch. From here to leave(), at its EXIT, nothing in CUPTI is
  // started or stopped.
  struct Entered {
    WindowId window = kNoWindow;
    std::uint32_t step = 0;
    bool counts = false;  // the window takes counters, also on the launch's context
  };
  [[nodiscard]] Entered enter(ThreadState& thread, const Counters::Place& place,
                              std::uint32_t correlation);
  // The same while a stream captures, when nothing may be started or stopped.
  [[nodiscard]] Entered enter_as_it_is(ThreadState& thread, std::uint32_t correlation);
  // Puts a range around the launch, if enter() says that counters are taken.
  [[nodiscard]] bool range_launch(const Counters::Place& place, const LaunchKey& key, bool wanted,
                                  std::uint32_t kernels);

  // --- what counters make room for
  // Reads an ended window before a capture begins, since it cannot be read within one.
  void before_capture();
  // Called before a kernel that may wait for other ranks: from here on nothing waits after every
  // launch, and nothing is replayed.
  void before_collective();
  // Called before a CUDA graph is launched: from here on there are no automatic ranges.
  void before_graph();
  // Has the profiler restarted, since it is undocumented whether code loaded later is instrumented.
  void module_loaded() { modules_loaded_.store(true, std::memory_order_relaxed); }
  void context_ends(CUcontext context);  // nullptr: any context
  // Ends a counter window with no kernel launch for `patience`; called often, on Gable's own
  // thread.
  void check_progress(std::chrono::milliseconds patience);

  // Counts the time that changes took on the program's threads.
  [[nodiscard]] ChangeTurns& turns() { return turns_; }

 private:
  // How long to wait for launches of other threads, which block when the GPU's queue is full.
  static constexpr std::chrono::milliseconds kLaunchPatience{500};

  // Called without the queue's lock.
  bool apply_pending();
  void settle();
  void follow_phase();       // starts or stops CUPTI for the open window
  void wait_for_launches();  // waits for unfinished launches on other threads
  void start_activity();
  void let_go();  // the queue is complete
  [[nodiscard]] std::optional<WindowId> join_window(const Counters::Place& place);
  void refused(Phase phase, const CuptiFailure& failure);
  void end_stalled(const std::string& sentence);
  bool end_unpushed(WindowFlaw flaw);
  void leave_automatic(const std::string& why);
  void leave_replay(const std::string& seen, bool counted);

  Runtime& rt_;
  EventSink& sink_;
  Counters& counters_;
  ActivityStream& activity_;
  WindowQueue& queue_;
  CountingFallback& fallback_;
  WindowReader& reader_;
  RecordClock& clock_;
  const Hooks hooks_;
  ChangeTurns turns_;
  LaunchGate gate_;
  std::atomic<bool> modules_loaded_{false};  // modules were loaded since the profilers were enabled

  // What check_progress() saw last, and since when.
  std::uint64_t progress_ = 0;
  std::chrono::steady_clock::time_point progress_since_{};
};

}  // namespace gable

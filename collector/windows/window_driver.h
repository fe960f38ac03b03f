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
    std::function<void()> records_now;  // asks for all records and waits a bounded time
  };
  WindowDriver(Runtime& rt, EventSink& sink, Counters& counters, ActivityStream& activity,
               WindowQueue& queue, CountingFallback& fallback, WindowReader& reader,
               RecordClock& clock, Hooks hooks);

  // --- at a launch
  // Carries out what is asked for. False: it could not be done now.
  bool settle_pending() {
    return !rt_.hot.pending.load(std::memory_order_acquire) || apply_pending();
  }
  // The step and the window that a launch belongs to. From here to leave(), at its EXIT, nothing in
  // CUPTI is started or stopped.
  struct Entered {
    WindowId window = kNoWindow;
    std::uint32_t step = 0;
    bool counts = false;  // the window takes counters, also on the launch's context
  };
  [[nodiscard]] Entered enter(ThreadState& thread, const Counters::Place& place,
                              std::uint32_t correlation);
  // The same where nothing may be started or stopped: a stream captures.
  [[nodiscard]] Entered enter_as_it_is(ThreadState& thread, std::uint32_t correlation);
  // Where enter() says that counters are taken: puts a range around the launch.
  [[nodiscard]] bool range_launch(const Counters::Place& place, const LaunchKey& key, bool wanted,
                                  std::uint32_t kernels);

  // --- what counters make room for
  // A window that ended is read before a capture begins, not within it.
  void before_capture();
  // A kernel that may wait for other ranks is about to be launched: from here on nothing waits
  // after every launch, and nothing is replayed.
  void before_collective();
  // Whether code that comes late gets instrumented is not documented: the profiler begins anew.
  void module_loaded() { modules_loaded_.store(true, std::memory_order_relaxed); }
  void context_ends(CUcontext context);  // nullptr: any of them
  // From a thread of ours, often: ends a counter window in which no kernel has been launched for
  // `patience`.
  void check_progress(std::chrono::milliseconds patience);

  // What changes took on the program's threads so far.
  [[nodiscard]] ChangeTurns& turns() { return turns_; }

 private:
  // For the launches of other threads, where the GPU's queue is full.
  static constexpr std::chrono::milliseconds kLaunchPatience{500};

  // Called without the queue's lock.
  bool apply_pending();
  void settle();
  void follow_phase();       // of the window that is open now
  void wait_for_launches();  // that are on their way on other threads
  void start_activity();
  void let_go();  // the queue is complete
  [[nodiscard]] std::optional<WindowId> join_window(const Counters::Place& place);
  void refused(Phase phase, const CuptiFailure& failure);
  void end_stalled(const std::string& sentence);
  void leave_automatic(const std::string& seen);
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
  std::atomic<bool> modules_loaded_{false};  // since the profilers were enabled

  // What check_progress() saw last, and since when.
  std::uint64_t progress_ = 0;
  std::chrono::steady_clock::time_point progress_since_{};
};

}  // namespace gable

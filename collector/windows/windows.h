// SPDX-License-Identifier: Apache-2.0
// Steps, windows and changes of phase: follows the step borders, asks the queue what each window
// collects, and makes CUPTI follow. A change is announced at the border, on whatever thread that
// is, and carried out by the next launch, on its own thread with its context current: the one place
// from which CUPTI's profiler is known to accept calls.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/mutex.h"
#include "collector/counters/counters.h"
#include "collector/cupti/activity_stream.h"
#include "collector/options/block.h"
#include "collector/process/host_clock.h"
#include "collector/queue/counting_ladder.h"
#include "collector/queue/launch_sequence.h"
#include "collector/queue/planner.h"
#include "collector/queue/recurring_range.h"
#include "collector/queue/window_state.h"
#include "collector/runtime/event_sink.h"
#include "collector/runtime/launch_gate.h"
#include "collector/runtime/runtime.h"

namespace gable {

inline constexpr std::string_view kNoBudgetWithRanks =
    "--budget is left out: with several ranks all must be in the same window.";

// Who says that a step ends; the later ones win where several do.
enum class StepPoint : std::uint8_t { forward, optimizer, call };

class Windows final : public RangeListener {
 public:
  struct Hooks {
    std::function<const MetricPlan*()> wait_for_plan;  // nullptr: no counters can be had
    std::function<const MetricPlan*()> known_plan;     // nullptr: it is not made yet
    std::function<void()> over;            // the queue is complete and CUPTI is quiet again
    std::function<void()> records_wanted;  // records should be asked for soon
    std::function<void()> records_now;     // asks for them all and waits a bounded time
    std::function<bool(const LaunchKey&)> counted;  // keys that -k leaves; empty: all
  };

  Windows(Runtime& rt, const CuptiApi& api, EventSink& sink, Counters& counters,
          ActivityStream& activity, Hooks hooks);

  // --- borders
  // ----------------------------------------------------------------------------------------------------
  void step_range_begin() override;
  void step_range_end() override;
  void range_begins(std::uint32_t level, LayerId layer, const void* thread) override;
  void range_ends(std::uint32_t level, const void* thread) override;
  void communicator_made(Communicator which) override;
  [[nodiscard]] bool communicator_seen() const {
    return communicator_.load(std::memory_order_relaxed);
  }
  // gable_step(), or Python's: one step ends, the next begins.
  void step_point(StepPoint point = StepPoint::call);
  void profiler_start();  // cudaProfilerStart: a step begins
  void profiler_stop();
  // The number of the step that is open, where steps end at points and nothing is collected in it.
  // `forward`: a forward begins that is wanted: also where counters are taken, and a step that was
  // to be warmed up or timed waits; another one will be.
  [[nodiscard]] std::optional<std::uint32_t> step_to_describe(bool forward);

  // --- the launch path
  // ----------------------------------------------------------------------------------------------
  // First at a launch's ENTER: borders that launches make, pending changes of phase. `kernels` of a
  // graph.
  void at_launch(ThreadState& thread, const LaunchKey& key, std::uint32_t kernels = 1) {
    const auto border = border_.load(std::memory_order_relaxed);
    if (border <= Border::recurring) follow(thread, key, kernels);
    settle_pending();
  }
  void settle_pending() {
    if (rt_.hot.pending.load(std::memory_order_acquire)) (void)apply_pending();
  }
  // A window that ended is read before a capture begins, not within it.
  void before_capture();
  // A kernel that may wait for other ranks is about to be launched: from here on nothing waits
  // after every launch, and nothing is replayed.
  void before_collective();
  // Then: the step and the window that the launch belongs to. From here to leave(), at its EXIT,
  // nothing in CUPTI is started or stopped.
  struct Entered {
    WindowId window = kNoWindow;
    std::uint32_t step = 0;
    bool counts = false;  // the window takes counters, also on the launch's context
  };
  [[nodiscard]] Entered enter(ThreadState& thread, const Counters::Place& place,
                              std::uint32_t correlation);
  // The same where nothing may be started or stopped: a stream captures.
  [[nodiscard]] Entered enter_as_it_is(ThreadState& thread, std::uint32_t correlation);
  static void leave(ThreadState& thread) { LaunchGate::leave(thread); }
  // Where enter() says that counters are taken: puts a range around the launch.
  [[nodiscard]] bool range_launch(const Counters::Place& place, const LaunchKey& key, bool wanted,
                                  std::uint32_t kernels = 1);
  void launch_ranged(const Counters::Place& place, bool launched) {
    counters_.after_launch(place, launched);
  }

  // --- what spoils a window
  // -------------------------------------------------------------------------------------------
  void flaw(WindowFlaw what) {
    flaws_.fetch_or(what, std::memory_order_relaxed);
    if (what == kModuleLoaded) modules_loaded_.store(true, std::memory_order_relaxed);
  }

  // The queue is complete: another one. On no application thread.
  [[nodiscard]] bool reopen(const Schedule& schedule);  // false: it is not
  // The queue begins anew, and what was collected is forgotten. False: it is complete.
  bool begin_block(const Schedule& schedule);
  void end_block();                      // the queue is complete, whatever is missing
  void context_ends(CUcontext context);  // nullptr: any of them
  // From a thread of ours, often: ends a counter window in which no kernel has been launched for
  // `patience`.
  void check_progress(std::chrono::milliseconds patience);
  // The process ends (or its context): closes the window that is open. On an application thread.
  void shut_down(const std::string& why);  // why a step that is open is not kept

  // What was to be said later is said now: the process ends in an unusual way.
  void say_what_is_left();
  // Before the last report: where steps were found too late to be measured, the windows before them
  // are what there is.
  void keep_what_was_measured();

  [[nodiscard]] std::uint64_t timestamp();  // ns on the clock of records; 0: unknown

  // Waits that ended because they took too long: for CUPTI, records or other threads' launches.
  [[nodiscard]] std::uint32_t timeouts() const { return timeouts_.load(std::memory_order_relaxed); }
  void count_timeout(std::uint32_t count = 1) {
    timeouts_.fetch_add(count, std::memory_order_relaxed);
  }

  // What changes took on the program's threads so far, waiting for one of another thread too.
  [[nodiscard]] std::uint64_t changes_ns() const {
    return changes_ns_.load(std::memory_order_relaxed);
  }

  struct Counts {
    std::uint64_t seen = 0, hw = 0, flops = 0, time = 0, classes = 0;
    std::string border;                   // as RunInfo's
    std::uint32_t period = 0;             // launches of the last period that was followed; 0: none
    std::optional<double> budget, added;  // percent; with --budget
    std::optional<std::uint32_t> needed;  // as RunInfo's
  };
  [[nodiscard]] Counts counts();
  [[nodiscard]] bool steps_known() const { return by_steps(); }

 private:
  // For the launches of other threads, where the GPU's queue is full.
  static constexpr std::chrono::milliseconds kLaunchPatience{500};

  // The first three give way to those after them.
  enum class Border : std::uint8_t { launches, period, recurring, point, profiler, range };

  // --- borders (window_borders.cpp)
  void follow(ThreadState& thread, const LaunchKey& key, std::uint32_t kernels);
  void obey(PeriodMark mark);
  void obey(RangeMark mark, std::uint64_t now) GABLE_REQUIRES(control_mutex_);
  void tell_found() GABLE_REQUIRES(control_mutex_);
  void lose_range();
  // A step that was found has more launches than CUPTI takes ranges: back to windows of launches.
  void leave_long_steps(std::uint64_t launches, std::size_t most, std::uint64_t now)
      GABLE_REQUIRES(control_mutex_);
  [[nodiscard]] bool looks_at_ranges() const;
  [[nodiscard]] LaunchesSeen launches_seen() const;
  void count_launch();
  void switch_to(Border border);
  // Those with the lock call no CUPTI.
  void start_over(Border border, std::uint64_t now, const std::string& why)
      GABLE_REQUIRES(control_mutex_);
  void start_queue() GABLE_REQUIRES(control_mutex_);
  [[nodiscard]] QueueOptions queue_options(Border border) const GABLE_REQUIRES(control_mutex_);
  [[nodiscard]] bool by_steps() const {
    return border_.load(std::memory_order_relaxed) != Border::launches;
  }
  [[nodiscard]] const char* border_name() const GABLE_REQUIRES(control_mutex_);  // as in the report
  // The queue is complete, but steps may still be found.
  [[nodiscard]] bool looks_on() const;
  void begin_window(std::uint64_t now) GABLE_REQUIRES(control_mutex_);
  void end_window(std::uint64_t now, const std::string& spoilt) GABLE_REQUIRES(control_mutex_);
  // The window is none: the queue goes on as if it had not been.
  void cut_window(std::uint64_t now, const std::string& why) GABLE_REQUIRES(control_mutex_);
  void close_window(std::uint64_t now, const std::string& spoilt, bool cut)
      GABLE_REQUIRES(control_mutex_);
  [[nodiscard]] std::optional<std::uint32_t> steps_needed() const GABLE_REQUIRES(control_mutex_);
  [[nodiscard]] Phase choose_phase() GABLE_REQUIRES(control_mutex_);
  // With --budget: the keys there is room for, or a phase without counters (window_keys.cpp).
  [[nodiscard]] Phase choose_keys(Phase phase) GABLE_REQUIRES(control_mutex_);
  void choose_again(const std::string& reason) GABLE_REQUIRES(control_mutex_);
  void replace_window(Phase phase, const std::string& reason) GABLE_REQUIRES(control_mutex_);
  void open_window(Phase phase) GABLE_REQUIRES(control_mutex_);
  void no_window_left() GABLE_REQUIRES(control_mutex_);
  void publish() GABLE_REQUIRES(control_mutex_);
  void tell_launches() GABLE_REQUIRES(control_mutex_);
  void ask_for_change() GABLE_REQUIRES(control_mutex_);

  // --- changes of phase (window_changes.cpp); called without the lock
  class Change;                        // held by the one thread that carries out changes
  [[nodiscard]] bool apply_pending();  // false: it could not be done now
  void settle();                       // makes CUPTI follow the phase
  void follow_phase();                 // of the window that is open now
  void wait_for_launches();            // that are on their way on other threads
  struct Closing {
    std::uint32_t queue = 0;  // which it was of
    WindowEnd end;
    WindowFacts facts;
    FunctionId new_functions = 0;  // from this one on they are left out; 0: none
    FunctionId first_new = 0;      // that ran for the first time within it
    bool retract = false;          // it ended as kept, but its counters are worth nothing
  };
  void read_counters(Closing closing);
  void counters_were_read(const Closing& closing, const CountersOutcome& outcome,
                          const KeyNeeds& needs);
  void start_activity();
  void forget_unpatched(const Closing& closing, CountersOutcome& outcome);
  void let_go();  // the queue is complete
  [[nodiscard]] bool is_chosen(const LaunchKey& key);
  [[nodiscard]] std::optional<WindowId> join_window(const Counters::Place& place);
  void refuse(Phase phase, const CuptiFailure& failure);

  // --- what is counted where CUPTI refuses (window_fallback.cpp)
  struct Trouble {
    CountingLadder::Cause cause = CountingLadder::Cause::refused;
    std::string what;  // a sentence
  };
  // What a window that was read says of how counters are taken; nothing: nothing.
  [[nodiscard]] std::optional<Trouble> trouble_of(const Closing& closing,
                                                  const CountersOutcome& outcome)
      GABLE_REQUIRES(control_mutex_);
  [[nodiscard]] Trouble trouble_of(const CuptiFailure& failure);
  void fall_back(PhaseKind kind, const Trouble& trouble) GABLE_REQUIRES(control_mutex_);
  void follow_ladder(PhaseKind kind, const CountingLadder::Step& step, const std::string& why)
      GABLE_REQUIRES(control_mutex_);
  void end_stalled(const std::string& sentence);
  [[nodiscard]] CountingLadder::Allowed allowed() const;
  // From single launches to layers, or back: what was counted is forgotten.
  void change_scope() GABLE_REQUIRES(control_mutex_);
  // What is to be said of a kind once a window of `until` was kept, or the program ends; off: at
  // once, without the lock.
  struct Owed {
    std::string why, what;
    PhaseKind of, until;
  };
  void owe(Owed owed) GABLE_REQUIRES(control_mutex_);
  // How the next window of the kind takes its ranges.
  [[nodiscard]] RangeMode choose_mode(PhaseKind kind) GABLE_REQUIRES(control_mutex_);
  // A window of launches has no more of them than CUPTI takes ranges.
  void cut_windows();
  void say_owed(PhaseKind worked = PhaseKind::off);  // of which a window was kept
  void stop_counting(const std::string& failed);     // the sentence of a call
  [[nodiscard]] static bool is_counter(Phase phase) {
    return phase.kind == PhaseKind::hw || phase.kind == PhaseKind::flops;
  }

  Runtime& rt_;
  const CuptiApi& api_;
  EventSink& sink_;
  Counters& counters_;
  ActivityStream& activity_;
  const Hooks hooks_;
  std::atomic<bool> limited_;              // --budget
  std::atomic<bool> communicator_{false};  // of NCCL, of more ranks than one
  std::atomic<bool> collective_{false};    // a kernel that may wait for ranks was launched
  std::atomic<Border> border_;
  std::atomic<bool> steps_too_long_{false};  // no steps are looked for any more
  std::atomic<std::uint32_t> flaws_{0};
  std::atomic<std::uint64_t> launches_{0};               // where windows are launches
  std::atomic<std::uint64_t> window_launches_;           // of each
  std::atomic<std::size_t> most_told_{~std::size_t{0}};  // ranges, where they cut windows
  LaunchSequence sequence_;                              // where borders are found
  // All launches while borders are found, and the sum of their hashes; from how many on the range
  // that was found has not come for too long.
  std::atomic<std::uint64_t> launches_seen_{0}, hashes_seen_{0}, range_patience_{~0ull};
  // The thread that launched last, and how often it was another than before.
  std::atomic<const ThreadState*> last_launcher_{nullptr};
  std::atomic<std::uint64_t> thread_switches_{0};
  std::atomic<bool> modules_loaded_{false};  // since the profilers were enabled
  std::atomic<std::uint32_t> ordinal_{0};    // of the next ranged launch

  // What check_progress() saw last, and since when.
  std::uint64_t progress_ = 0;
  std::chrono::steady_clock::time_point progress_since_{};

  HostClock clock_;
  LaunchGate gate_;
  std::atomic<std::uint32_t> timeouts_{0};

  // One thread carries out changes; others wait for it at their launch. Not a mutex: CUPTI is
  // called meanwhile.
  std::atomic<bool> changing_{false};
  std::atomic<std::uint64_t> changes_ns_{0};

  // Guards what follows. CUPTI is never called while it is held.
  Mutex control_mutex_;
  Schedule schedule_ GABLE_GUARDED_BY(
      control_mutex_);  // of the queue that is open; the options' own where it is empty
  Planner planner_ GABLE_GUARDED_BY(control_mutex_);  // made of all above
  WindowState state_ GABLE_GUARDED_BY(control_mutex_);
  CountingLadder ladder_ GABLE_GUARDED_BY(control_mutex_);
  std::vector<Owed> owed_ GABLE_GUARDED_BY(control_mutex_);
  std::uint32_t queue_ GABLE_GUARDED_BY(control_mutex_) = 0;  // how often the queue began anew
  std::uint64_t asked_ GABLE_GUARDED_BY(control_mutex_) = 0;  // changes asked for so far
  int range_depth_ GABLE_GUARDED_BY(control_mutex_) = 0;  // of step ranges, all threads together
  std::uint32_t range_epoch_ GABLE_GUARDED_BY(control_mutex_) = 0;  // since when they are known
  std::uint32_t step_ GABLE_GUARDED_BY(control_mutex_) = 0;
  std::uint64_t start_ns_ GABLE_GUARDED_BY(control_mutex_) = 0;
  // Of the window that is open: as in WindowEnd.
  bool changed_ GABLE_GUARDED_BY(control_mutex_) = false;
  std::uint64_t change_ns_ GABLE_GUARDED_BY(control_mutex_) = 0;
  std::uint64_t usual_launches_ GABLE_GUARDED_BY(control_mutex_) = 0;
  std::uint32_t slowed_step_ GABLE_GUARDED_BY(control_mutex_) =
      0;  // by us, so that nothing is told from how long it was
  std::atomic<std::size_t> max_ranges_{0};
  std::size_t range_factor_ GABLE_GUARDED_BY(control_mutex_) = 1;
  FunctionId functions_before_ GABLE_GUARDED_BY(control_mutex_) =
      0;  // kernels known when the window began
  std::vector<Closing> closings_
      GABLE_GUARDED_BY(control_mutex_);  // counter windows that ended and are not read yet
  Counts counts_ GABLE_GUARDED_BY(control_mutex_);
  std::uint32_t period_ GABLE_GUARDED_BY(control_mutex_) = 0;
  RecurringRange recurring_ GABLE_GUARDED_BY(control_mutex_);
  std::string found_note_ GABLE_GUARDED_BY(control_mutex_);  // of the range; not told yet
  StepPoint point_ GABLE_GUARDED_BY(control_mutex_) = StepPoint::forward;
  std::shared_ptr<const KeyChoice> chosen_
      GABLE_GUARDED_BY(control_mutex_);  // with --budget: of the counter window that is open
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The queue of windows: which one is open, what it collects, and what launches are told of it.
// Borders open and close windows here, on whatever thread they come; WindowDriver makes CUPTI
// follow afterwards. Calls no CUPTI.
//
// The queue is the monitor of all that windows are made of: its lock guards the planner, the state
// and the ladder, and is never held while CUPTI is called.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/profile/key_choice.h"
#include "collector/cupti/activity_stream.h"
#include "collector/metrics/plan.h"
#include "collector/options/block.h"
#include "collector/queue/counting_ladder.h"
#include "collector/queue/planner.h"
#include "collector/queue/window_state.h"
#include "collector/runtime/event_sink.h"
#include "collector/runtime/runtime.h"
#include "collector/windows/border.h"

namespace gable {

inline constexpr std::string_view kNoBudgetWithRanks =
    "--budget is ignored: several ranks must all be in the same window.";

// A counter window that has ended but whose counters have not been read yet.
struct EndedWindow {
  std::uint32_t queue = 0;  // number of the queue it belonged to
  WindowEnd end;
  WindowFacts facts;
  FunctionId new_functions = 0;  // kernels from this one on are left out; 0: none
  FunctionId first_new = 0;      // first kernel that ran for the first time within it
  bool retract = false;          // it was kept when it ended, but its counters are useless
};

class WindowQueue {
 public:
  struct Hooks {
    std::function<const MetricPlan*()> wait_for_plan;  // nullptr: no counters available
    std::function<const MetricPlan*()> known_plan;     // returns nullptr if it is not made yet
    std::function<void()> records_wanted;              // records should be requested soon
    std::function<bool(const LaunchKey&)> counted;     // keys that LaunchFilter selects; empty: all
    std::function<bool()> looks_on;    // the queue is complete, but steps may still be found
    std::function<bool()> may_return;  // whether an abandoned CUPTI call may still return
  };
  WindowQueue(Runtime& rt, EventSink& sink, const ActivityStream& activity, Hooks hooks,
              RangeMode mode);

  // The lock that GABLE_REQUIRES(mutex_) below refers to.
  [[nodiscard]] Mutex& mutex() GABLE_RETURN_CAPABILITY(mutex_) { return mutex_; }
  [[nodiscard]] Planner& planner() GABLE_REQUIRES(mutex_) { return planner_; }
  [[nodiscard]] WindowState& state() GABLE_REQUIRES(mutex_) { return state_; }
  [[nodiscard]] CountingLadder& ladder() GABLE_REQUIRES(mutex_) { return ladder_; }

  // --- which borders there are
  [[nodiscard]] Border border() const { return border_.load(std::memory_order_relaxed); }
  void set_border(Border border) { border_.store(border, std::memory_order_relaxed); }
  [[nodiscard]] bool by_steps() const { return border() != Border::launches; }
  // Number of launches in a window while no step is known.
  [[nodiscard]] std::uint64_t window_launches() const {
    return window_launches_.load(std::memory_order_relaxed);
  }
  void set_window_launches(std::uint64_t launches) {
    window_launches_.store(launches, std::memory_order_relaxed);
  }

  // --- windows; times are in ns on the clock of CUPTI's records
  void begin_window(std::uint64_t now) GABLE_REQUIRES(mutex_);
  // `spoilt`: a sentence that says why the window is not kept; empty if it may be.
  void end_window(std::uint64_t now, const std::string& spoilt) GABLE_REQUIRES(mutex_) {
    close_window(now, spoilt, false);
  }
  // Discards the window; the queue continues as if it had never opened.
  void cut_window(std::uint64_t now, const std::string& why) GABLE_REQUIRES(mutex_) {
    close_window(now, why, true);
  }
  // Gives the open window, which has collected nothing yet, the phase that is due now.
  void choose_again(const std::string& reason) GABLE_REQUIRES(mutex_);
  void replace_window(Phase phase, const std::string& reason) GABLE_REQUIRES(mutex_);
  // Called when no window is due: the queue rests or completes.
  void no_window_left() GABLE_REQUIRES(mutex_);
  void finish() GABLE_REQUIRES(mutex_);  // completes the queue
  // Sets how many launches the next step is expected to have.
  void expect_launches(std::uint64_t launches) GABLE_REQUIRES(mutex_) {
    usual_launches_ = launches;
  }

  // --- queues
  // Restarts the queue with other borders and discards what was collected. `repeats`: the steps
  // that were found have been seen to repeat.
  void start_over(Border border, bool repeats, std::uint64_t now, const std::string& why)
      GABLE_REQUIRES(mutex_);
  // Restarts the queue as one of several ranks, before anything was collected.
  void start_with_ranks() GABLE_REQUIRES(mutex_);
  // Applies `schedule` to all later windows.
  void follow_schedule(const Schedule& schedule) GABLE_REQUIRES(mutex_) { schedule_ = schedule; }
  // Starts another queue after the last one is over; returns false if it is not over.
  [[nodiscard]] bool reopen(const Schedule& schedule, bool repeats) GABLE_REQUIRES(mutex_);
  void stop() GABLE_REQUIRES(mutex_);  // completes the queue, whatever is missing
  // Discards what was counted, when counting changes from launches to layers or back.
  void count_anew() GABLE_REQUIRES(mutex_);

  // --- what launches are told
  void ask_for_change() GABLE_REQUIRES(mutex_);
  [[nodiscard]] std::uint64_t asked() const GABLE_REQUIRES(mutex_) { return asked_; }
  // Says that CUPTI has carried out all changes up to number `asked`, between the times `began` and
  // `ended`; `changed`: something was started or stopped.
  void settled(std::uint64_t asked, bool changed, std::uint64_t began, std::uint64_t ended)
      GABLE_REQUIRES(mutex_);

  // --- counter windows
  [[nodiscard]] std::vector<EndedWindow> take_ended() GABLE_REQUIRES(mutex_);
  // Keeps none of the ended windows that are not read yet; no note says that they are thrown away.
  void drop_ended() GABLE_REQUIRES(mutex_);
  // Marks the counters of the unread windows as useless, for `reason`. Returns their phase, or
  // nothing if every window has been read.
  std::optional<Phase> spoil_ended(const std::string& reason) GABLE_REQUIRES(mutex_);
  // How often the queue was restarted.
  [[nodiscard]] std::uint32_t number() const GABLE_REQUIRES(mutex_) { return number_; }
  [[nodiscard]] bool measured() const GABLE_REQUIRES(mutex_) {
    return counts_.hw + counts_.flops + counts_.time > 0;
  }
  // Takes in the counters of a window that was kept.
  void was_read(const EndedWindow& window, const KeyNeeds& needs) GABLE_REQUIRES(mutex_);
  void want_more_ranges() GABLE_REQUIRES(mutex_) { range_factor_ *= 2; }
  [[nodiscard]] std::size_t max_ranges() const {
    return max_ranges_.load(std::memory_order_relaxed);
  }
  // Index of the next launch with a range in this window; ordinals() is their number so far.
  [[nodiscard]] std::uint32_t next_ordinal() {
    return ordinal_.fetch_add(1, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint32_t ordinals() const { return ordinal_.load(std::memory_order_relaxed); }
  // Whether --budget leaves room for this key in the window. Takes the lock.
  [[nodiscard]] bool is_chosen(const LaunchKey& key);
  void flaw(WindowFlaw what) { flaws_.fetch_or(what, std::memory_order_relaxed); }

  // The number of the open step if the model may be described in it: steps must end at points and
  // nothing may be collected. With `put_off` a step with counters will do too, and a warm-up or
  // timed step is put off to a later one. Takes the lock.
  [[nodiscard]] std::optional<std::uint32_t> step_to_describe(bool put_off);
  [[nodiscard]] std::uint32_t step() const GABLE_REQUIRES(mutex_) { return step_; }

  struct Counts {
    std::uint64_t seen = 0, hw = 0, flops = 0, time = 0, classes = 0;
    std::optional<double> budget, added;  // percent; budget: with --budget
    std::optional<double> added_ns;
    std::optional<std::uint32_t> needed;  // as RunInfo's
  };
  [[nodiscard]] Counts counts() GABLE_REQUIRES(mutex_);
  [[nodiscard]] std::uint64_t steps_seen() const GABLE_REQUIRES(mutex_) { return counts_.seen; }
  [[nodiscard]] bool limited() const { return limited_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] QueueOptions options(Border border) const GABLE_REQUIRES(mutex_);
  void start() GABLE_REQUIRES(mutex_);
  void open_window(Phase phase) GABLE_REQUIRES(mutex_);
  void close_window(std::uint64_t now, const std::string& spoilt, bool cut) GABLE_REQUIRES(mutex_);
  [[nodiscard]] WindowEnd end_of(const StepSummary& summary, std::uint64_t now) const
      GABLE_REQUIRES(mutex_);
  void time_window_ended(const WindowEnd& end, const WindowFacts& facts) GABLE_REQUIRES(mutex_);
  [[nodiscard]] Phase choose_phase() GABLE_REQUIRES(mutex_);
  // Chooses the keys that --budget has room for; without room, a phase without counters.
  [[nodiscard]] Phase choose_keys(Phase phase) GABLE_REQUIRES(mutex_);
  void make_room() GABLE_REQUIRES(mutex_);
  void publish() GABLE_REQUIRES(mutex_);
  void tell_launches() GABLE_REQUIRES(mutex_);
  [[nodiscard]] std::optional<std::uint32_t> steps_needed() const GABLE_REQUIRES(mutex_);

  Runtime& rt_;
  EventSink& sink_;
  const ActivityStream& activity_;
  const Hooks hooks_;
  std::atomic<bool> limited_;  // --budget
  std::atomic<Border> border_;
  std::atomic<std::uint64_t> window_launches_;
  std::atomic<std::uint32_t> flaws_{0};    // WindowFlaw bits of the open window
  std::atomic<std::uint32_t> ordinal_{0};  // index of its next launch with a range
  std::atomic<std::size_t> max_ranges_{0};

  Mutex mutex_;
  Schedule schedule_ GABLE_GUARDED_BY(mutex_);     // this queue's; if empty, the options apply
  bool repeats_ GABLE_GUARDED_BY(mutex_) = false;  // found steps were seen to repeat
  Planner planner_ GABLE_GUARDED_BY(mutex_);
  WindowState state_ GABLE_GUARDED_BY(mutex_);
  CountingLadder ladder_ GABLE_GUARDED_BY(mutex_);
  std::vector<EndedWindow> ended_ GABLE_GUARDED_BY(mutex_);  // ended but not read yet
  std::uint32_t number_ GABLE_GUARDED_BY(mutex_) = 0;
  std::uint64_t asked_ GABLE_GUARDED_BY(mutex_) = 0;  // number of changes requested so far
  std::uint32_t step_ GABLE_GUARDED_BY(mutex_) = 0;
  // Number of the step that Gable itself slowed; its duration is ignored.
  std::uint32_t slowed_step_ GABLE_GUARDED_BY(mutex_) = 0;
  std::uint64_t usual_launches_ GABLE_GUARDED_BY(mutex_) = 0;  // launches in a usual step
  std::size_t range_factor_ GABLE_GUARDED_BY(mutex_) = 1;
  Counts counts_ GABLE_GUARDED_BY(mutex_);
  // State of the open window.
  struct Open {
    std::uint64_t start_ns = 0;
    bool reach = false, changed = false;      // as in WindowEnd
    bool calls = false;                       // calls are recorded, also after its end
    std::uint64_t change_ns = 0;              // as in WindowEnd
    FunctionId functions_before = 0;          // kernels that were known
    std::shared_ptr<const KeyChoice> chosen;  // keys chosen for a counter window under --budget
  };
  Open open_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

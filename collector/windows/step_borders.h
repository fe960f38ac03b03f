// SPDX-License-Identifier: Apache-2.0
// Where windows begin and end: at step borders that the program or its user names, else at those
// that are found in its launches and ranges, else after so many launches. Calls no CUPTI but for
// the time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "collector/layers/range_tracker.h"
#include "collector/layers/thread_state.h"
#include "collector/queue/launch_sequence.h"
#include "collector/queue/recurring_range.h"
#include "collector/windows/record_clock.h"
#include "collector/windows/window_queue.h"

namespace gable {

class StepBorders {
 public:
  StepBorders(Runtime& rt, EventSink& sink, WindowQueue& queue, RecordClock& clock);

  // --- named by the program or its user
  void step_range_begin();
  void step_range_end();
  // One step ends, the next begins. `anew`: what ended the steps before was no end of one, so the
  // queue starts over.
  void step_point(StepPoint point, bool anew = false);
  void profiler_start();  // a step begins
  void profiler_stop();

  // --- found by Gable
  // Called first at a launch; `kernels`: how many a graph has.
  void at_launch(ThreadState& thread, const LaunchKey& key, std::uint32_t kernels) {
    if (queue_.border() <= Border::recurring) follow(thread, key, kernels);
  }
  // Implements RangeListener for Windows.
  void range_begins(std::uint32_t level, LayerId layer, const void* thread);
  void range_ends(std::uint32_t level, const void* thread);
  // Whether steps may still be found although the queue is complete.
  [[nodiscard]] bool looks_on() const;
  // Says that the process is one of several ranks. Takes the queue's lock.
  void ranks_came();
  // Goes back to windows of launches if a found step has more launches than CUPTI takes ranges.
  // Needs the queue's lock.
  void leave_long_steps(std::uint64_t launches, std::size_t most, std::uint64_t now);

  // --- queues; each function takes the queue's lock
  // Opens a further queue; returns false if the previous one is not over.
  [[nodiscard]] bool reopen(const Schedule& schedule);
  // Restarts the queue and discards what was collected; returns false if it is over.
  bool begin_block(const Schedule& schedule);
  // Called before the last report: keeps the earlier windows if steps were found too late to be
  // measured.
  void keep_what_was_measured();

  // Values for the report; each function takes the queue's lock.
  [[nodiscard]] std::string name();
  [[nodiscard]] std::uint32_t period();  // launches of the last period followed; 0: none

 private:
  void follow(ThreadState& thread, const LaunchKey& key, std::uint32_t kernels);
  void obey(PeriodMark mark);
  void period_found(PeriodMark mark, std::uint64_t now) GABLE_REQUIRES(queue_.mutex());
  void period_gone(std::uint64_t now) GABLE_REQUIRES(queue_.mutex());
  void obey(RangeMark mark, std::uint64_t now) GABLE_REQUIRES(queue_.mutex());
  void range_found(std::uint64_t now) GABLE_REQUIRES(queue_.mutex());
  void range_gone(std::uint64_t now) GABLE_REQUIRES(queue_.mutex());
  void tell_found() GABLE_REQUIRES(queue_.mutex());
  void lose_range();
  void count_launch();
  void switch_to(Border border);
  void start_over(Border border, std::uint64_t now, const std::string& why)
      GABLE_REQUIRES(queue_.mutex());
  [[nodiscard]] bool looks_at_ranges() const;
  [[nodiscard]] LaunchesSeen launches_seen() const;

  Runtime& rt_;
  EventSink& sink_;
  WindowQueue& queue_;
  RecordClock& clock_;

  LaunchSequence sequence_;
  std::atomic<bool> too_long_{false};       // the found steps were too long: the search is over
  std::atomic<std::uint64_t> launches_{0};  // launches in the window, if windows are launches
  // All launches while borders are looked for, and the sum of their hashes; from how many on the
  // range that was found has not come for too long.
  std::atomic<std::uint64_t> seen_{0}, hashes_{0}, range_patience_{~0ull};
  // The thread that launched last, and how often that thread changed.
  std::atomic<const ThreadState*> last_launcher_{nullptr};
  std::atomic<std::uint64_t> switches_{0};

  int range_depth_ GABLE_GUARDED_BY(queue_.mutex()) = 0;  // open step ranges of all threads
  std::uint32_t range_epoch_ GABLE_GUARDED_BY(queue_.mutex()) = 0;  // since when they are known
  std::uint32_t period_ GABLE_GUARDED_BY(queue_.mutex()) = 0;
  RecurringRange recurring_ GABLE_GUARDED_BY(queue_.mutex());
  std::string found_note_ GABLE_GUARDED_BY(queue_.mutex());  // note on the range, not reported yet
  StepPoint point_ GABLE_GUARDED_BY(queue_.mutex()) = StepPoint::forward;
  // A forward was the last end of a step.
  bool by_forward_ GABLE_GUARDED_BY(queue_.mutex()) = false;
};

}  // namespace gable

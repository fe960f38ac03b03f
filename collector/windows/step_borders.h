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
  void step_point(StepPoint point);  // one step ends, the next begins
  void profiler_start();             // a step begins
  void profiler_stop();

  // --- looked for
  // First at a launch; `kernels` of a graph.
  void at_launch(ThreadState& thread, const LaunchKey& key, std::uint32_t kernels) {
    if (queue_.border() <= Border::recurring) follow(thread, key, kernels);
  }
  // As RangeListener.
  void range_begins(std::uint32_t level, LayerId layer, const void* thread);
  void range_ends(std::uint32_t level, const void* thread);
  // The queue is complete, but steps may still be found.
  [[nodiscard]] bool looks_on() const;
  // The process turns out to be one of several ranks. Takes the queue's lock.
  void ranks_came();
  // A step that was found has more launches than CUPTI takes ranges: back to windows of launches.
  // With the queue's lock.
  void leave_long_steps(std::uint64_t launches, std::size_t most, std::uint64_t now);

  // --- queues. Each takes the queue's lock.
  // A further one. False: the one before is not over.
  [[nodiscard]] bool reopen(const Schedule& schedule);
  // It begins anew, and what was collected is forgotten. False: it is over.
  bool begin_block(const Schedule& schedule);
  // Before the last report: where steps were found too late to be measured, the windows before them
  // are what there is.
  void keep_what_was_measured();

  // As in the report. Each takes the queue's lock.
  [[nodiscard]] std::string name();
  [[nodiscard]] std::uint32_t period();  // launches of the last one that was followed; 0: none

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
  std::atomic<bool> too_long_{false};  // the steps that were found: none is looked for any more
  std::atomic<std::uint64_t> launches_{0};  // where windows are launches
  // All launches while borders are looked for, and the sum of their hashes; from how many on the
  // range that was found has not come for too long.
  std::atomic<std::uint64_t> seen_{0}, hashes_{0}, range_patience_{~0ull};
  // The thread that launched last, and how often it was another than before.
  std::atomic<const ThreadState*> last_launcher_{nullptr};
  std::atomic<std::uint64_t> switches_{0};

  int range_depth_ GABLE_GUARDED_BY(queue_.mutex()) = 0;  // of step ranges, all threads together
  std::uint32_t range_epoch_ GABLE_GUARDED_BY(queue_.mutex()) = 0;  // since when they are known
  std::uint32_t period_ GABLE_GUARDED_BY(queue_.mutex()) = 0;
  RecurringRange recurring_ GABLE_GUARDED_BY(queue_.mutex());
  std::string found_note_ GABLE_GUARDED_BY(queue_.mutex());  // of the range; not told yet
  StepPoint point_ GABLE_GUARDED_BY(queue_.mutex()) = StepPoint::forward;
};

}  // namespace gable

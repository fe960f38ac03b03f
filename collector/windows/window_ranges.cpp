// SPDX-License-Identifier: Apache-2.0
// Steps by a range that comes again and again, without anybody naming it.
#include <string>
#include <utility>

#include "collector/windows/windows.h"

namespace gable {

// Ranks need not see the same ranges at the same step.
bool Windows::looks_at_ranges() const {
  const auto border = border_.load(std::memory_order_relaxed);
  return (border == Border::launches || border == Border::recurring) && !rt_.ranks &&
         !steps_too_long_.load(std::memory_order_relaxed);
}

LaunchesSeen Windows::launches_seen() const {
  const auto& own = this_thread();
  return {launches_seen_.load(std::memory_order_relaxed),
          hashes_seen_.load(std::memory_order_relaxed), own.followed,
          thread_switches_.load(std::memory_order_relaxed), &own};
}

void Windows::range_begins(std::uint32_t level, LayerId layer, const void* thread) {
  if (!looks_at_ranges()) return;
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  if (looks_at_ranges() && !state_.ended())
    obey(recurring_.begin(level, layer, thread, launches_seen()), now);
}

void Windows::range_ends(std::uint32_t level, const void* thread) {
  if (!looks_at_ranges()) return;
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  if (looks_at_ranges() && !state_.ended())
    obey(recurring_.end(level, thread, launches_seen()), now);
}

void Windows::obey(RangeMark mark, std::uint64_t now) {
  switch (mark) {
    case RangeMark::found: {
      start_over(Border::recurring, now, "The program's steps were found within it.");
      planner_.saw_step(recurring_.first().hash);
      usual_launches_ = recurring_.first().launches;
      std::string names;
      for (const auto range : recurring_.ranges())
        names += (names.empty() ? "'" : ", '") + rt_.layers.node(range).name + "'";
      const bool one = recurring_.ranges().size() == 1;
      found_note_ = (one ? "The range " : "The ranges ") + names +
                    (one ? ", which comes again around the program's launches, was"
                         : ", which come again in turn around the program's launches, were") +
                    " taken for the step; --step-range chooses another.";
      begin_window(now);
      break;
    }
    case RangeMark::begins:
      end_window(now, {});
      tell_found();
      begin_window(now);
      break;
    case RangeMark::ends:
      end_window(now, {});
      tell_found();
      break;
    case RangeMark::gone:
      range_patience_.store(~0ull, std::memory_order_relaxed);
      if (planner_.next().kind == PhaseKind::off) {
        cut_window(now, "The range that was taken for the step came no longer within it.");
        if (state_.finish()) ask_for_change();
        return;
      }
      if (found_note_.empty()) {
        rt_.notes.record("The range that was taken for the step came " +
                         (counts_.seen == 1 ? "once" : std::to_string(counts_.seen) + " times") +
                         " and then no longer around the program's launches: this report is "
                         "about what came later.");
      }
      found_note_.clear();
      start_over(Border::launches, now, {});
      sequence_.skip();
      launches_.store(0);
      return;
    case RangeMark::none:
      return;
  }
  range_patience_.store(recurring_.patience_ends(), std::memory_order_relaxed);
}

// A range that turned out to be no step within its first instance was never one to anybody.
void Windows::tell_found() {
  if (!found_note_.empty()) rt_.notes.record(std::exchange(found_note_, {}));
}

// The launches go on, but the range that was the step does not come any more.
void Windows::lose_range() {
  const auto now = timestamp();
  const MutexLock hold(control_mutex_);
  if (state_.ended() || border_.load(std::memory_order_relaxed) != Border::recurring) return;
  if (launches_seen().launches <= recurring_.patience_ends()) return;
  recurring_.forget();
  obey(RangeMark::gone, now);
}

}  // namespace gable

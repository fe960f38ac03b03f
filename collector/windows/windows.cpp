// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/windows.h"

namespace gable {

Windows::Windows(Runtime& rt, const CuptiApi& api, EventSink& sink, Counters& counters,
                 ActivityStream& activity, const Hooks& hooks)
    : rt_(rt),
      counters_(counters),
      clock_(api),
      queue_(rt, sink, activity,
             {.wait_for_plan =
                  [this, wait = hooks.wait_for_plan] {
                    const MetricPlan* plan = wait();
                    if (plan != nullptr) counters_.set_plan(plan);
                    return plan;
                  },
              .known_plan = hooks.known_plan,
              .records_wanted = hooks.records_wanted,
              .counted = hooks.counted,
              .looks_on = [this] { return borders_.looks_on(); },
              .may_return = [this] { return counters_.may_return(); }},
             counters.mode()),
      borders_(rt, sink, queue_, clock_),
      fallback_(rt, counters),
      reader_(rt, sink, counters, queue_, borders_, fallback_, clock_,
              {.plan = hooks.wait_for_plan, .counted = hooks.counted}),
      driver_(rt, sink, counters, activity, queue_, fallback_, reader_, clock_,
              {.over = hooks.over, .records_now = hooks.records_now}) {}

void Windows::communicator_made(Communicator which) {
  const bool own = which == Communicator::own_gpus;
  if (!own && told_ranks() == Ranks::one) return;
  fallback_.saw_communicator();
  if (own || rt_.ranks.exchange(true)) return;  // windows are this process's, of all its GPUs
  borders_.ranks_came();
}

bool Windows::reopen(const Schedule& schedule) {
  if (!borders_.reopen(schedule)) return false;
  driver_.turns().forget_spent();
  return true;
}

void Windows::end_block() {
  const auto now = clock_.now();
  const MutexLock hold(queue_.mutex());
  queue_.end_window(
      now, steps_known() ? "The block that the program asked to profile ended within it." : "");
  queue_.stop();
}

void Windows::shut_down(const std::string& why) {
  const auto now = clock_.now();
  {
    const MutexLock hold(queue_.mutex());
    queue_.end_window(now, steps_known() ? why : "");
    if (!queue_.state().quit())
      rt_.notes.record("The queue could not be ended when the program ended.");
  }
  rt_.hot.watching.store(false, std::memory_order_release);
  settle_pending();
  fallback_.say_owed(queue_);
}

Windows::Counts Windows::counts() {
  Counts counts;
  {
    const MutexLock hold(queue_.mutex());
    static_cast<WindowQueue::Counts&>(counts) = queue_.counts();
  }
  counts.border = queue_.border();
  counts.border_name = borders_.name();
  counts.period = borders_.period();
  return counts;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/session/on_demand.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "collector/runtime/range_calls.h"
#include "collector/session/other_tools.h"

namespace gable {

OnDemand::OnDemand(Collection& collection, Subscription& subscription, Ending& ending,
                   Reports& reports, std::function<std::string()> subscribe)
    : c_(collection),
      subscription_(subscription),
      ending_(ending),
      reports_(reports),
      subscribe_(std::move(subscribe)) {}

std::string OnDemand::answer(const std::string& line) {
  constexpr std::string_view kWindow = "window ";
  std::uint32_t steps = 0;
  if (!line.starts_with(kWindow))
    return "-It is of another version and does not know '" + line + "'.";
  const char* const end = line.data() + line.size();
  if (std::from_chars(line.data() + kWindow.size(), end, steps).ptr != end)
    return "-'" + line.substr(kWindow.size()) + "' is not a valid number of steps.";
  Schedule schedule;
  if (steps > 0) schedule.active = steps;
  const auto refused = open(schedule);
  if (!refused.empty()) return "-" + refused;
  return "+A queue is open; its report will be " + reports_.output().name() + ".";
}

std::string OnDemand::why_not() const {
  if (c_.ranges_only) return "CUPTI cannot be used in it; its report says why.";
  if (c_.rt.ranks) return "It is one of several ranks, whose windows must come together.";
  if (reports_.output().is_left_out())
    return "It is a rank that --ranks leaves out, and writes no report: ask one of the others.";
  if (ending_.begun()) return "It is ending.";
  if (!ending_.complete())
    return "A queue is open in it: its windows come first. Ask again when its report is complete.";
  if (c_.counters.hangs() || c_.counters.runs_on())
    return "CUPTI did not finish the previous queue.";
  return {};
}

std::string OnDemand::open(const Schedule& schedule) {
  if (auto refused = why_not(); !refused.empty()) return refused;
  if (auto refused = subscribe_(); !refused.empty()) return refused;
  reports_.output().next_queue();
  c_.sink.drain();
  c_.sink.with_profile([](Profile& profile) { profile.restart(); });
  reports_.begin_anew();
  // What was loaded, unloaded, pushed and popped meanwhile, nobody saw.
  c_.forget_handles();
  c_.rt.ranges.forget_open();
  if (!c_.windows.reopen(schedule)) {
    subscription_.end();
    return "The previous queue did not end.";
  }
  ending_.queue_opened();
  c_.watch_gpus();
  set_ranges_active(true);
  c_.rt.hot.watching.store(true, std::memory_order_release);
  watch_for_other_tools();
  return {};
}

}  // namespace gable

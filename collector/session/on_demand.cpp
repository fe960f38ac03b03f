// SPDX-License-Identifier: Apache-2.0
// A further queue in a program that runs: asked for by `gable window`, a signal or the program
// itself, opened by the worker once the queue before is complete.
#include <charconv>

#include "collector/runtime/range_calls.h"
#include "collector/session/other_tools.h"
#include "collector/session/session.h"

namespace gable {

// "window N"; N windows of each phase, 0: as many as the kernels want. The answer begins with + or
// -.
std::string Session::answer_request(const std::string& line) {
  constexpr std::string_view kWindow = "window ";
  std::uint32_t steps = 0;
  if (!line.starts_with(kWindow))
    return "-It is of another version and does not know '" + line + "'.";
  const char* const end = line.data() + line.size();
  if (std::from_chars(line.data() + kWindow.size(), end, steps).ptr != end)
    return "-It does not know how many steps '" + line + "' are.";
  Schedule schedule;
  if (steps > 0) schedule.active = steps;
  const auto refused = open_queue(schedule);
  if (!refused.empty()) return "-" + refused;
  return "+A queue is open; its report will be " + output_.name() + ".";
}

void Session::begin_block(const Block& block) {
  if (ranges_only_) return;
  const bool chooses = !block.include.empty() || !block.exclude.empty();
  const auto& s = rt_.settings;
  for (const auto& sentence : filter_.choose_layers(chooses ? block.include : s.include,
                                                    chooses ? block.exclude : s.exclude))
    rt_.notes.say(sentence);
  if (windows_.begin_block(block.schedule)) return;
  // The end of the queue before may still wait for a launch.
  windows_.settle_pending();
  if (const auto refused = background_.open_queue(block.schedule); !refused.empty())
    rt_.notes.say("What the program wants profiled is not: " + refused);
}

std::string Session::open_queue(const Schedule& schedule) {
  if (ranges_only_) return "CUPTI cannot be used in it; its report says why.";
  if (rt_.ranks) return "It is one of several ranks, whose windows must come together.";
  if (finished_.load()) return "It is ending.";
  if (!complete_.load())
    return "A queue is open in it: its windows come first. Ask again when its report is complete.";
  if (counters_.hangs() || counters_.runs_on())
    return "CUPTI did not come to an end with the queue before.";
  const auto late = [this](const std::string& refused) {
    if (refused.empty()) subscription_.end();
  };
  if (auto refused = subscription_.begin(callback, this, late); !refused.empty()) return refused;
  output_.next_queue();
  sink_.drain();
  sink_.with_profile([](Profile& profile) { profile.restart(); });
  snapshots_.begin_anew(content_so_far());
  // What was loaded, unloaded, pushed and popped meanwhile, nobody saw.
  unload_epoch_.fetch_add(1, std::memory_order_relaxed);
  rt_.ranges.forget_open();
  if (!windows_.reopen(schedule)) {
    subscription_.end();
    return "The queue before did not come to an end.";
  }
  complete_.store(false);
  set_ranges_active(true);
  rt_.hot.watching.store(true, std::memory_order_release);
  watch_for_other_tools();
  return {};
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/windows/counting_fallback.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "collector/cupti/remedies.h"

namespace gable {

CountingLadder::Allowed CountingFallback::allowed() const {
  const auto& s = rt_.settings;
  CountingLadder::Allowed allowed;
  // What waits after every launch may wait for a kernel that waits for another rank.
  allowed.automatic = s.ranges != RangesBy::user && !rt_.ranks && !communicator_seen() &&
                      !collective_.load(std::memory_order_relaxed) &&
                      !graph_.load(std::memory_order_relaxed);
  allowed.layers = s.record.empty();  // a recording keeps what each launch counted
  return allowed;
}

CountingFallback::Trouble CountingFallback::trouble_of(const CuptiFailure& failure) {
  const bool denied =
      !remedy_for(failure.code).empty() || counters_.runs_on() || counters_.not_closed().failed();
  return {denied ? CountingLadder::Cause::denied : CountingLadder::Cause::refused,
          failure.sentence};
}

std::optional<CountingFallback::Trouble> CountingFallback::trouble_of(
    const EndedWindow& window, const CountersOutcome& outcome) {
  if (!outcome.failed.empty()) {
    auto trouble = trouble_of({static_cast<CUptiResult>(outcome.failed_code), outcome.failed});
    // What CUPTI refuses while a stream captures says nothing of other windows.
    const bool captured = (window.facts.flaws & kCapture) != 0;
    if (captured && trouble.cause == CountingLadder::Cause::refused) return std::nullopt;
    return trouble;
  }
  if (!window.retract || outcome.keep) return std::nullopt;
  const auto most = counters_.most_ranges();
  const auto launches = window.facts.launches;
  if (window.facts.steps && outcome.too_small && launches > most) {
    return Trouble{CountingLadder::Cause::too_many, "The program's steps have " +
                                                        std::to_string(launches) +
                                                        " launches, but CUPTI takes no more than " +
                                                        std::to_string(most) + " ranges here."};
  }
  if (!outcome.misfit) return std::nullopt;
  const bool hw = window.end.phase.kind == PhaseKind::hw;
  return Trouble{CountingLadder::Cause::misfit, (hw ? "Hardware counters" : "FLOPs") +
                                                    std::string(" did not fit the launches: ") +
                                                    outcome.reason};
}

// A call that has not returned may still do so; until then nothing is begun. That is said once for
// all calls.
void CountingFallback::fall_back(WindowQueue& queue, PhaseKind kind, const Trouble& trouble) {
  if (counters_.hangs()) return;
  const auto step = queue.ladder().failed(kind, trouble.cause, allowed());
  if (counters_.runs_on()) {
    owe({trouble.what, "CUPTI cannot be stopped, so nothing more is collected.", kind,
         PhaseKind::off});
    for (const auto each : {PhaseKind::hw, PhaseKind::flops, PhaseKind::time})
      queue.planner().give_up(each);
    return;
  }
  if (!step.moved && trouble.cause == CountingLadder::Cause::refused)
    rt_.notes.record(trouble.what + " Gable asked for it again.");
  follow(queue, kind, step, trouble.what);
}

void CountingFallback::follow(WindowQueue& queue, PhaseKind kind, const CountingLadder::Step& step,
                              const std::string& why) {
  if (!step.moved) return;
  auto& ladder = queue.ladder();
  auto& planner = queue.planner();
  if (kind == PhaseKind::hw && ladder.taken(kind)) planner.trust_again();
  for (const auto each : {PhaseKind::hw, PhaseKind::flops}) {
    if (ladder.taken(each))
      planner.take_again(each);
    else
      planner.give_up(each);
  }
  const bool measured = queue.measured();
  if (step.scope_changed) {
    counters_.count_layers(ladder.by_layers());
    queue.count_anew();
  }
  if (step.sentence.empty()) return;
  // What the other kind goes on with may be refused as well.
  const auto other = kind == PhaseKind::hw ? PhaseKind::flops : PhaseKind::hw;
  const bool waits = ladder.taken(other) && !ladder.works(other);
  if (!ladder.taken(kind) && !ladder.taken(other)) {
    const MutexLock hold(mutex_);
    owed_.clear();
  }
  const bool lost = step.scope_changed && measured;
  owe({why.empty() ? why_of(kind) : why,
       step.sentence + (lost ? " What was measured before is left out." : ""), kind,
       ladder.taken(kind) ? kind
       : waits            ? other
                          : PhaseKind::off});
}

RangeMode CountingFallback::choose_mode(WindowQueue& queue, PhaseKind kind) {
  auto& ladder = queue.ladder();
  if (!allowed().automatic && ladder.mode(kind) == RangeMode::automatic) {
    const auto step = ladder.forbid_automatic(allowed());
    follow(queue, kind, step,
           graph_.load(std::memory_order_relaxed)
               ? "CUPTI makes no automatic ranges of CUDA graphs."
               : "Other ranks may wait where CUPTI waits after every launch.");
    if (step.scope_changed) queue.choose_again({});
  }
  return ladder.mode(kind);
}

void CountingFallback::stop_counting(WindowQueue& queue, const std::string& failed) {
  if (counters_.hangs()) return;
  rt_.notes.say(failed + " No more counters are taken.");
  const MutexLock hold(queue.mutex());
  for (const auto each : {PhaseKind::hw, PhaseKind::flops}) {
    queue.ladder().leave_out(each);
    queue.planner().give_up(each);
  }
}

void CountingFallback::cut_windows(WindowQueue& queue) {
  const auto most = counters_.most_ranges();
  const auto others = ThreadRegistry::instance().launches_of_others();
  const std::uint64_t launches = most - std::min(others, most / 2);
  if (launches >= queue.window_launches()) return;
  queue.set_window_launches(launches);
  if (queue.by_steps() || most_told_.exchange(most) <= most) return;
  rt_.notes.say(counters_.refused_ranges().sentence +
                " Counting continues with fewer ranges: windows are of at most " +
                std::to_string(most) + " launches.");
}

// Refusals of a kind in a row have one sentence, about the last: what was tried and did not work
// need not be known.
void CountingFallback::owe(Owed owed) {
  const MutexLock hold(mutex_);
  std::erase_if(owed_, [&](const Owed& each) { return each.of == owed.of; });
  owed_.push_back(std::move(owed));
}

std::string CountingFallback::why_of(PhaseKind kind) {
  const MutexLock hold(mutex_);
  const auto before =
      std::find_if(owed_.begin(), owed_.end(), [&](const Owed& each) { return each.of == kind; });
  return before != owed_.end() ? before->why : std::string();
}

void CountingFallback::say_owed(WindowQueue& queue, PhaseKind worked) {
  bool ended = false;
  {
    const MutexLock hold(queue.mutex());
    ended = queue.state().ended();
  }
  std::vector<Owed> due;
  {
    const MutexLock hold(mutex_);
    const auto now = [&](const Owed& each) {
      return ended || each.until == worked || each.until == PhaseKind::off;
    };
    std::copy_if(owed_.begin(), owed_.end(), std::back_inserter(due), now);
    std::erase_if(owed_, now);
  }
  say(due);
}

void CountingFallback::say_what_is_left() {
  std::vector<Owed> due;
  {
    const MutexLock hold(mutex_);
    due.swap(owed_);
  }
  say(due);
}

void CountingFallback::say(const std::vector<Owed>& due) {
  for (const auto& each : due) rt_.notes.say(each.why + " " + each.what);
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// How counters are taken where CUPTI refuses: what failed is told to the ladder, and the queue
// follows its answer.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/cupti/remedies.h"
#include "collector/windows/windows.h"

namespace gable {

CountingLadder::Allowed Windows::allowed() const {
  const auto& s = rt_.settings;
  CountingLadder::Allowed allowed;
  // What waits after every launch may wait for a kernel that waits for another rank.
  allowed.automatic = s.ranges != "user" && !rt_.ranks && !communicator_seen() &&
                      !collective_.load(std::memory_order_relaxed);
  allowed.layers = s.record.empty();  // a recording keeps what each launch counted
  return allowed;
}

Windows::Trouble Windows::trouble_of(const CuptiFailure& failure) {
  const bool denied =
      !remedy_for(failure.code).empty() || counters_.runs_on() || counters_.not_closed().failed();
  return {denied ? CountingLadder::Cause::denied : CountingLadder::Cause::refused,
          failure.sentence};
}

std::optional<Windows::Trouble> Windows::trouble_of(const Closing& closing,
                                                    const CountersOutcome& outcome) {
  if (!outcome.failed.empty()) {
    auto trouble = trouble_of({static_cast<CUptiResult>(outcome.failed_code), outcome.failed});
    // What CUPTI refuses while a stream captures says nothing of other windows.
    const bool captured = (closing.facts.flaws & kCapture) != 0;
    if (captured && trouble.cause == CountingLadder::Cause::refused) return std::nullopt;
    return trouble;
  }
  if (!closing.retract || outcome.keep) return std::nullopt;
  const auto most = counters_.most_ranges();
  const auto launches = closing.facts.launches;
  if (closing.facts.steps && outcome.too_small && launches > most) {
    return Trouble{CountingLadder::Cause::too_many, "The program's steps have " +
                                                        std::to_string(launches) +
                                                        " launches, but CUPTI takes no more than " +
                                                        std::to_string(most) + " ranges here."};
  }
  if (!outcome.misfit) return std::nullopt;
  return Trouble{CountingLadder::Cause::misfit,
                 (closing.end.phase.kind == PhaseKind::hw ? "Hardware counters" : "FLOPs") +
                     std::string(" did not fit the launches: ") + outcome.reason};
}

// A call that has not returned may still do so; until then nothing is begun. That is said once for
// all calls.
void Windows::fall_back(PhaseKind kind, const Trouble& trouble) {
  if (counters_.hangs()) return;
  const auto step = ladder_.failed(kind, trouble.cause, allowed());
  if (counters_.runs_on()) {
    owe({trouble.what, "CUPTI cannot be stopped, so nothing more is collected.", kind,
         PhaseKind::off});
    for (const auto each : {PhaseKind::hw, PhaseKind::flops, PhaseKind::time})
      planner_.give_up(each);
    return;
  }
  if (!step.moved && trouble.cause == CountingLadder::Cause::refused)
    rt_.notes.record(trouble.what + " It was asked for again.");
  follow_ladder(kind, step, trouble.what);
}

void Windows::follow_ladder(PhaseKind kind, const CountingLadder::Step& step,
                            const std::string& why) {
  if (!step.moved) return;
  if (kind == PhaseKind::hw && ladder_.taken(kind)) planner_.trust_again();
  for (const auto each : {PhaseKind::hw, PhaseKind::flops}) {
    if (ladder_.taken(each))
      planner_.take_again(each);
    else
      planner_.give_up(each);
  }
  const bool counted = counts_.hw + counts_.flops + counts_.time > 0;
  if (step.scope_changed) change_scope();
  if (step.sentence.empty()) return;
  // What the other kind goes on with may be refused as well.
  const auto other = kind == PhaseKind::hw ? PhaseKind::flops : PhaseKind::hw;
  const bool waits = ladder_.taken(other) && !ladder_.works(other);
  if (!ladder_.taken(kind) && !ladder_.taken(other)) owed_.clear();
  const auto before =
      std::find_if(owed_.begin(), owed_.end(), [&](const Owed& each) { return each.of == kind; });
  owe({why.empty() && before != owed_.end() ? before->why : why,
       step.sentence +
           (step.scope_changed && counted ? " What was measured before is left out." : ""),
       kind,
       ladder_.taken(kind) ? kind
       : waits             ? other
                           : PhaseKind::off});
}

// Refusals of a kind in a row have one sentence, about the last: what was tried and did not work
// need not be known.
void Windows::owe(Owed owed) {
  std::erase_if(owed_, [&](const Owed& each) { return each.of == owed.of; });
  owed_.push_back(std::move(owed));
}

void Windows::change_scope() {
  for (auto& closing : closings_) {
    closing.end.keep = false;
    closing.end.reason.clear();  // nothing of it is missed
  }
  planner_.collect_again();
  counts_ = {};
  const bool layers = ladder_.by_layers();
  counters_.count_layers(layers);
  const auto window = state_.window();
  const auto phase = state_.phase();
  const bool open = state_.in_window();
  sink_.with_profile([&](Profile& profile) {
    profile.count_anew(layers);
    if (open) profile.begin_window(window, phase);
    if (auto* recorder = sink_.recorder()) recorder->restart();
  });
}

RangeMode Windows::choose_mode(PhaseKind kind) {
  if (!allowed().automatic && ladder_.mode(kind) == RangeMode::automatic) {
    const auto step = ladder_.forbid_automatic(allowed());
    follow_ladder(kind, step, "Other ranks may wait where CUPTI waits after every launch.");
    if (step.scope_changed) choose_again({});
  }
  return ladder_.mode(kind);
}

void Windows::cut_windows() {
  constexpr std::size_t kRoomPerThread = 16;  // for launches on their way while a window ends
  const auto most = counters_.most_ranges();
  const auto threads = ThreadRegistry::instance().size();
  const auto others = threads > 0 ? (threads - 1) * kRoomPerThread : 0;
  const std::uint64_t launches = most - std::min(others, most / 2);
  if (launches >= window_launches_.load(std::memory_order_relaxed)) return;
  window_launches_.store(launches, std::memory_order_relaxed);
  if (by_steps() || most_told_.exchange(most) <= most) return;
  rt_.notes.say(counters_.refused_ranges().sentence +
                " Counters go on with fewer ranges: windows are of at most " +
                std::to_string(most) + " launches.");
}

void Windows::say_owed(PhaseKind worked) {
  std::vector<Owed> due;
  {
    const MutexLock hold(control_mutex_);
    const bool ended = state_.ended();
    const auto now = [&](const Owed& each) {
      return ended || each.until == worked || each.until == PhaseKind::off;
    };
    std::copy_if(owed_.begin(), owed_.end(), std::back_inserter(due), now);
    std::erase_if(owed_, now);
  }
  for (const auto& each : due) rt_.notes.say(each.why + " " + each.what);
}

void Windows::say_what_is_left() {
  {
    const MutexLock hold(control_mutex_);
    for (auto& each : owed_) each.until = PhaseKind::off;
  }
  say_owed();
}

// For good, whatever else might work.
void Windows::stop_counting(const std::string& failed) {
  if (counters_.hangs()) return;
  rt_.notes.say(failed + " No more counters are taken.");
  const MutexLock hold(control_mutex_);
  ladder_.leave_out(PhaseKind::hw);
  ladder_.leave_out(PhaseKind::flops);
  planner_.give_up(PhaseKind::hw);
  planner_.give_up(PhaseKind::flops);
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/planner.h"

#include <algorithm>

namespace gable {

void Planner::set_passes(std::uint32_t groups, bool flops) {
  groups_ = groups;
  planned_ = true;
  queue_.set_groups(groups);
  if (!flops) queue_.give_up(PhaseKind::flops);
}

Phase Planner::next() const {
  const Phase due = queue_.next();
  if (!budget_.limited() || !planned_) return due;
  const bool counters = is_counter(due.kind);
  const bool no_room = (counters && budget_.launches() < std::max<std::uint64_t>(least_, 1)) ||
                       (due.kind == PhaseKind::time && !timing_ && !budget_.room_for_times());
  return no_room ? Phase{PhaseKind::wait, 0} : due;
}

void Planner::take_again(PhaseKind kind) {
  if (!gave_up_ && !(distrusted_ && kind == PhaseKind::flops)) queue_.take_again(kind);
}

ChoiceRequest Planner::choice() const {
  ChoiceRequest request;
  request.query.phase = queue_.next();
  request.query.groups = groups_;
  request.room = budget_.launches();
  return request;
}

bool Planner::take_hopeless() {
  if (gave_up_ || !budget_.hopeless()) return false;
  gave_up_ = true;
  for (const auto kind : {PhaseKind::hw, PhaseKind::flops, PhaseKind::time}) queue_.give_up(kind);
  return true;
}

Verdict Planner::ended(const WindowFacts& facts, const std::string& spoilt) {
  Verdict verdict;
  verdict.reason = spoilt;
  if (spoilt.empty()) verdict = judge_window(facts, queue_.thrown_away_in_row(), checks_);
  // A window without launches does not count, unless windows go by number.
  if (facts.launches > 0 || queue_.by_number())
    queue_.ended(facts.phase, class_of(facts), verdict.reason.empty());
  timing_ = timing_ || facts.phase.kind == PhaseKind::time;
  if (measures(facts.phase.kind)) least_ = 0;
  if (!verdict.reason.empty()) {  // else its counters are still to be read
    const bool refused = (facts.flaws & kRefused) != 0;
    tried_ = tried_ || (facts.phase.kind == PhaseKind::hw && !refused);
    distrust();
  }
  return verdict;
}

ProgressQuery Planner::query(const WindowFacts& facts) const {
  ProgressQuery query;
  query.phase = facts.phase;
  query.window = facts.window;
  query.groups = groups_;
  query.round = queue_.round(facts.phase, class_of(facts));
  query.guess = budget_.limited();
  return query;
}

void Planner::progress(const WindowFacts& facts, const KeyNeeds& needs) {
  queue_.progress(facts.phase, class_of(facts),
                  {needs.more(), needs.wide(), !facts.steps && needs.new_keys(), needs.samples});
}

void Planner::counters_read(const WindowFacts& facts, const CountersOutcome& outcome) {
  if (facts.phase.kind == PhaseKind::hw) {
    verified_ = verified_ || outcome.keep;
    const bool counted = outcome.failed.empty() && (outcome.keep || !outcome.contexts.empty());
    tried_ = tried_ || counted;  // else nothing was there to fit
  }
  if (!outcome.keep) queue_.retract(facts.phase, class_of(facts));
  distrust();
}

void Planner::trust_again() {
  if (!verified_) tried_ = distrusted_ = tell_distrust_ = false;
}

// Thread blocks are counted beside bytes only. Where they never fitted, a launch's operations would
// be wrong too, and nothing would show it.
void Planner::distrust() {
  if (!checks_.distrust || distrusted_ || !tried_ || verified_) return;
  if (queue_.next().kind != PhaseKind::flops) return;  // hw may still be had
  queue_.give_up(PhaseKind::flops);
  distrusted_ = tell_distrust_ = true;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/planner.h"

namespace gable {

void Planner::set_passes(std::uint32_t groups, bool flops) {
  groups_ = groups;
  queue_.set_groups(groups);
  if (!flops) queue_.give_up(PhaseKind::flops);
}

Verdict Planner::ended(const WindowFacts& facts, const std::string& spoilt) {
  Verdict verdict;
  verdict.reason = spoilt;
  if (spoilt.empty()) verdict = judge_window(facts, queue_.thrown_away_in_row(), checks_);
  // A window without launches is none.
  if (facts.launches > 0) queue_.ended(facts.phase, class_of(facts), verdict.reason.empty());
  tried_ = tried_ || facts.phase.kind == PhaseKind::hw;
  if (!verdict.reason.empty()) distrust();  // else its counters are still to be read
  return verdict;
}

ProgressQuery Planner::query(const WindowFacts& facts) const {
  ProgressQuery query;
  query.phase = facts.phase;
  query.window = facts.window;
  query.groups = groups_;
  query.round = queue_.round(facts.phase, class_of(facts));
  return query;
}

void Planner::progress(const WindowFacts& facts, const KeyNeeds& needs) {
  queue_.progress(facts.phase, class_of(facts),
                  {needs.more(), needs.wide(), !facts.steps && needs.new_keys()});
}

void Planner::counters_read(const WindowFacts& facts, const CountersOutcome& outcome) {
  if (facts.phase.kind == PhaseKind::hw) verified_ = verified_ || outcome.keep;
  if (!outcome.keep) queue_.retract(facts.phase, class_of(facts));
  distrust();
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

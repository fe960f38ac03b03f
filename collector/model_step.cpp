// SPDX-License-Identifier: Apache-2.0
// The steps in which the Python side describes the model: those that are waited for, or counted,
// which takes no time into account, so that no time is longer for it.
#include "collector/session.h"

namespace gable {

std::optional<std::uint32_t> Windows::step_to_describe(bool forward) {
  const MutexLock hold(control_mutex_);
  if (!state_.in_window() || border_.load(std::memory_order_relaxed) != Border::point)
    return std::nullopt;
  if (state_.phase().kind == PhaseKind::wait) return step_;
  if (!forward || limited_) return std::nullopt;  // a budget is for measuring
  if (state_.counts()) {
    slowed_step_ = step_;
    return step_;
  }
  if (planner_.queue().by_number()) return std::nullopt;  // ranks stay in step
  replace_window({PhaseKind::wait, 0}, {});
  return step_;
}

bool Session::begin_model(bool forward) {
  if (ranges_only_ || !rt_.model.wants_more()) return false;
  const auto step = windows_.step_to_describe(forward);
  return step && rt_.model.begin(*step);
}

void Session::end_model(const std::string& why_not) {
  auto described = rt_.model.end();
  if (!described) return;
  std::string problem = why_not;
  // The next step has begun, and only that one.
  if (problem.empty() && rt_.hot.step.load(std::memory_order_relaxed) != described->step + 1)
    problem = "the step in which they were described had a border within it";
  if (!problem.empty()) {
    if (rt_.model.give_up())
      rt_.notes.record("What the model's operators have to do is not known: " + problem + ".");
    return;
  }
  rt_.model.kept();
  described->model.sequence_hash = sink_.summary(described->step).hash;
  sink_.with_profile(
      [&described](Profile& profile) { profile.describe(std::move(described->model)); });
}

}  // namespace gable

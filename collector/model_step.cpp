// SPDX-License-Identifier: Apache-2.0
// The Python side describes the model within one step.
#include "collector/session.h"

namespace gable {

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

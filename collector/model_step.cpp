// SPDX-License-Identifier: Apache-2.0
// The step in which the Python side describes the model: one that is waited for anyway, so that no
// window is slower for it.
#include "collector/session.h"

namespace gable {

std::optional<std::uint32_t> Windows::waiting_step() {
  const std::lock_guard hold(control_mutex_);
  const bool waits = in_window_ && phase_.kind == PhaseKind::wait;
  if (!waits || border_.load(std::memory_order_relaxed) != Border::point) return std::nullopt;
  return step_;
}

bool Session::begin_model() {
  if (ranges_only_) return false;
  const auto step = windows_.waiting_step();
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
    rt_.notes.record("What the model's operators have to do is not known: " + problem + ".");
    return;
  }
  described->model.sequence_hash = sink_.summary(described->step).hash;
  sink_.with_profile(
      [&described](Profile& profile) { profile.describe(std::move(described->model)); });
}

}  // namespace gable

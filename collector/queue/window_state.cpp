// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/window_state.h"

#include <algorithm>

namespace gable {

bool WindowState::step(Event event) {
  const auto found = std::find_if(
      kTransitions.begin(), kTransitions.end(),
      [&](const Transition& each) { return each.from == state_ && each.event == event; });
  if (found == kTransitions.end()) return false;
  state_ = found->to;
  return true;
}

bool WindowState::begin(Phase phase) {
  if (phase.kind == PhaseKind::off) return false;
  const bool passes = phase.kind == PhaseKind::wait || phase.kind == PhaseKind::warmup;
  if (!step(passes ? Event::pass : Event::begin)) return false;
  phase_ = phase;
  window_ = ++last_;
  counting_ = false;
  return true;
}

bool WindowState::follow() { return unread_ == 0 && step(Event::follow); }

bool WindowState::end(bool unread) {
  if (!step(Event::end)) return false;
  if (unread) ++unread_;
  counting_ = false;
  return true;
}

bool WindowState::let_go() { return unread_ == 0 && step(Event::let_go); }

bool WindowState::reopen() {
  if (!step(Event::reopen)) return false;
  unread_ = 0;
  return true;
}

bool WindowState::begin_counting() {
  if (!counts() || state_ != State::open) return false;
  counting_ = true;
  return true;
}

bool WindowState::read_one() {
  if (unread_ == 0) return false;
  --unread_;
  return true;
}

std::string_view to_string(WindowState::State state) {
  switch (state) {
    case WindowState::State::between:
      return "between";
    case WindowState::State::announced:
      return "announced";
    case WindowState::State::open:
      return "open";
    case WindowState::State::idle:
      return "idle";
    case WindowState::State::complete:
      return "complete";
    case WindowState::State::stopped:
      return "stopped";
    case WindowState::State::over:
      break;
  }
  return "over";
}

}  // namespace gable

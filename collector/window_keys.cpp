// SPDX-License-Identifier: Apache-2.0
// Which launches of a counter window get ranges: with --budget those of the keys there is room for.
#include <memory>
#include <utility>

#include "collector/windows.h"

namespace gable {

void Windows::choose_keys() {
  chosen_.reset();
  if (!limited_) return;
  if (planner_.take_hopeless()) {
    rt_.notes.say(
        "Following the launches alone takes more than --budget allows: nothing (more) is "
        "collected.");
    phase_ = planner_.next();
  }
  if (!is_counter(phase_)) return;
  auto request = planner_.choice();
  request.query.counted = hooks_.counted;
  request.windows = counts_.seen;
  request.all = !are_pushed(counters_.mode());
  auto choice =
      sink_.with_profile([&](Profile& profile) { return gable::choose_keys(profile, request); });
  planner_.chosen(choice);
  if (choice.enough()) {
    chosen_ = std::make_shared<const KeyChoice>(std::move(choice));
  } else {
    phase_ = {PhaseKind::wait, 0};
  }
}

bool Windows::is_chosen(const LaunchKey& key) {
  if (!limited_) return true;
  const std::lock_guard hold(control_mutex_);
  return chosen_ == nullptr || chosen_->keys.contains(key);
}

bool Windows::range_launch(const Counters::Place& place, const LaunchKey& key, bool wanted,
                           std::uint32_t kernels) {
  auto& thread = this_thread();
  if (thread.busy) return false;
  bool joined = false;
  while (!join_window(place, joined)) {
  }
  if (!joined) return false;
  const auto ordinal = ordinal_.fetch_add(1, std::memory_order_relaxed);
  wanted = wanted && is_chosen(counters_.counted_key(key));
  thread.busy = true;
  const bool ranged = counters_.before_launch(place, ordinal, key, wanted, kernels);
  thread.busy = false;
  return ranged;
}

}  // namespace gable

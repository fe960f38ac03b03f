// SPDX-License-Identifier: Apache-2.0
// Counters of ranges: every layer has a row of its own for what its launches counted together.
#include "analysis/profile/profile_state.h"

namespace gable {

void Profile::count_ranges() { state_->range_function = state_->functions.intern(kRangeSymbol); }

void Profile::count_anew(bool ranges) {
  const auto lost = state_->lost;
  const auto reasons = state_->reasons;
  restart();
  state_->lost = lost;
  state_->reasons = reasons;
  state_->range_function = 0;
  if (ranges) count_ranges();
}

void Profile::State::add_to_range(const LaunchKey& launch, Window* window) {
  if (range_function == 0) return;
  const KeyIndex row =
      keys.find_or_add(range_key(launch.layer, launch.device, range_function), oldest_open());
  ++keys.row(row).launches;
  if (window != nullptr) ++window_key(*window, row).launches;
}

void Profile::State::add_to_range(KeyIndex launch, Window& window, std::uint64_t duration_ns) {
  if (range_function == 0 || launch == kOtherKey) return;
  const LaunchKey& key = keys.row(launch).key;
  const KeyIndex row =
      keys.find_or_add(range_key(key.layer, key.device, range_function), oldest_open());
  window.overflow[row].add(duration_ns);
}

}  // namespace gable

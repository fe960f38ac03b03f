// SPDX-License-Identifier: Apache-2.0
// Which launch keys a counter window takes if there is no room for all: of those that still need
// samples, the ones with the largest share of the time.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "analysis/profile/key_progress.h"
#include "analysis/profile/key_table.h"

namespace gable {

struct HashLaunchKey {
  std::size_t operator()(const LaunchKey& key) const { return hash_of(key); }
};
using KeySet = std::unordered_set<LaunchKey, HashLaunchKey>;

struct KeyChoice {
  KeySet keys;
  std::uint64_t launches = 0;  // launches of the chosen keys in a window
  std::uint64_t least = 0;     // fewest launches there must be room for; above `launches`: wait
  [[nodiscard]] bool enough() const { return launches > 0 && launches >= least; }
};

// The least launches of a window; an eighth of those needed if that is more.
inline constexpr std::uint64_t kLeastLaunches = 32;

struct ChoiceRequest {
  ProgressQuery query;
  std::uint64_t windows = 1;  // windows so far, over which launches are counted
  std::uint64_t room = 0;     // launches
  bool all = false;           // CUPTI counts every launch, wanted or not
};
// Chooses the keys. A key of unknown duration is assumed to take as long as others with as many
// threads.
[[nodiscard]] KeyChoice choose_keys(const Profile& profile, const ChoiceRequest& request);

}  // namespace gable

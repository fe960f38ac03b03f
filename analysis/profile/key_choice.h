// SPDX-License-Identifier: Apache-2.0
// Which launch keys a counter window takes when there is no room for all: those with the largest
// share of the time first, among those that still want samples.
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
  std::uint64_t launches = 0;  // of them, in a window
  std::uint64_t least = 0;     // launches there must be room for; above `launches`: wait
  [[nodiscard]] bool enough() const { return launches > 0 && launches >= least; }
};

inline constexpr std::uint64_t kLeastLaunches = 32;  // of a window, or an eighth of what is wanted

struct ChoiceRequest {
  ProgressQuery query;
  std::uint64_t windows = 1;  // so far: launches are counted over all of them
  std::uint64_t room = 0;     // launches
  bool all = false;           // CUPTI counts every launch, wanted or not
};
// A key without a known duration is taken for as long as others of as many threads.
[[nodiscard]] KeyChoice choose_keys(const Profile& profile, const ChoiceRequest& request);

}  // namespace gable

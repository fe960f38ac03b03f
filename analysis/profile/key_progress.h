// SPDX-License-Identifier: Apache-2.0
// What the launch keys of a window still need: more samples, or more windows because their samples
// spread. Visits every key once at window borders, never on the launch path.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/profile/key_table.h"
#include "analysis/profile/profile.h"

namespace gable {

inline constexpr std::uint64_t kEnoughSamples = 3;  // per phase; FLOPs: one, and one check window
inline constexpr double kEnoughSpread = 0.02;       // standard error of a mean
inline constexpr double kWorthAWindow = 0.01;       // share of the time; less is not waited for
inline constexpr double kSameFlops = 1e-3;  // data decide some branches; sizes differ by more

struct ProgressQuery {
  Phase phase;
  WindowId window = kNoWindow;  // one that ended; its keys are asked about
  std::uint32_t groups = 1;     // hardware passes: each of them counts bytes and durations
  std::uint32_t round = 1;      // round of the queue; each needs its own samples
  std::function<bool(const LaunchKey&)> counted;  // keys that get ranges; empty: all
  bool guess = false;  // estimate durations that were never timed, by the number of threads
};

// What one key still needs of the phase.
struct KeyWant {
  KeyIndex key = kOtherKey;
  double launches = 0;  // so far
  double ns = 0;        // duration of one launch; 0: unknown
  bool lacks = false;   // it lacks samples
  bool wide = false;    // its samples spread too far
  bool fresh = false;   // the phase had never seen it
};
// The needs of the keys in the window, or of all keys for kNoWindow.
[[nodiscard]] std::vector<KeyWant> key_wants(const Profile& profile, const ProgressQuery& query);

struct KeyNeeds {
  // Shares of the window's time in keys that …
  double samples = 0;  // have too few samples
  double spread = 0;   // have samples that spread too far
  double fresh = 0;    // the phase had never seen
  std::uint64_t keys = 0;
  [[nodiscard]] bool more() const { return samples > kWorthAWindow; }
  [[nodiscard]] bool wide() const { return spread > kWorthAWindow; }
  [[nodiscard]] bool new_keys() const { return fresh > kWorthAWindow; }
};

[[nodiscard]] KeyNeeds key_needs(const Profile& profile, const ProgressQuery& query);

}  // namespace gable

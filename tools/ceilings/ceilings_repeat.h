// SPDX-License-Identifier: Apache-2.0
// How often a kernel has to run until its time can be believed. Knows nothing of GPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gable {

struct RepeatLimits {
  // A launch shall take that long: clocks and caches settle, ends weigh little.
  double launch_s = 0.02;
  int least = 40, most = 120;  // launches; the first ones bring the GPU to its sustained clock
  int last = 5;                // by which it is judged
  double spread = 0.01;        // (longest - shortest) / mean of the last ones
  std::uint32_t most_iterations = 1U << 24;
};

struct Repeated {
  std::uint32_t iterations = 0;  // of the loop in one launch
  double seconds = 0;            // mean of the last launches
  double spread = 0;
  bool steady = false;
  int launches = 0;
};

// `launch` runs the loop so many times and says how long it took, in seconds; nothing when it
// failed, which ends it all with nothing. Nothing too where the longest loop takes next to no time.
[[nodiscard]] std::optional<Repeated> repeat_until_steady(
    const std::function<std::optional<double>(std::uint32_t)>& launch,
    const RepeatLimits& limits = {});

}  // namespace gable

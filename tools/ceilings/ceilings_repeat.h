// SPDX-License-Identifier: Apache-2.0
// Repeats a kernel until its time is reliable. Independent of GPUs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gable {

struct RepeatLimits {
  // Target time of a launch: long enough for clocks and caches to settle, and for its begin and end
  // to weigh little.
  double launch_s = 0.02;
  int least = 40, most = 120;  // launches; the first ones bring the GPU to its sustained clock
  int last = 5;                // last launches, by which it is judged
  double spread = 0.01;        // (longest - shortest) / mean of the last ones
  std::uint32_t most_iterations = 1U << 24;
};

struct Repeated {
  std::uint32_t iterations = 0;  // loop iterations per launch
  double seconds = 0;            // mean of the last launches
  double spread = 0;
  bool steady = false;
  int launches = 0;
};

// `launch` runs the loop that many times and returns the seconds it took, or nothing on failure,
// which ends the repetition with nothing. Also returns nothing if the longest loop takes next to no
// time.
[[nodiscard]] std::optional<Repeated> repeat_until_steady(
    const std::function<std::optional<double>(std::uint32_t)>& launch,
    const RepeatLimits& limits = {});

}  // namespace gable

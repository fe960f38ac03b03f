// SPDX-License-Identifier: Apache-2.0
// How much a number varies from window to window.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "analysis/events/events.h"

namespace gable {

struct Spread {
  std::uint32_t windows = 0;
  double mean = 0, squares = 0;  // Welford's: mean, and sum of squared deviations from it
  double low = std::numeric_limits<double>::infinity(), high = -low;

  void add(double value) {
    ++windows;
    const double delta = value - mean;
    mean += delta / windows;
    squares += delta * (value - mean);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // Standard deviation over mean; 0 below two windows.
  [[nodiscard]] double variation() const {
    if (windows < 2 || !(std::abs(mean) > 0)) return 0;
    return std::sqrt(squares / (windows - 1)) / std::abs(mean);
  }
  // Number of windows that bring the standard error of the mean below `share` of it.
  [[nodiscard]] double windows_for(double share) const {
    const double ratio = variation() / share;
    return ratio * ratio;
  }
  // Whether the largest and the smallest value differ by more than `share` of the one with the
  // larger magnitude.
  [[nodiscard]] bool differs(double share) const {
    return windows > 0 && high - low > share * std::max(std::abs(high), std::abs(low));
  }
};

// A pushed range lasts until the GPU sees it popped, so that its gpu__time_duration has the host's
// time between push, launch and pop, too. On an H200 that was 7 us in a bare loop and 50 to 64 us
// in PyTorch; an automatic range's duration is 1 us too long.
inline constexpr double kPushedRangeNs = 64000;
// The shortest duration of a pushed range that is taken for the time of what ran in it: that is at
// most 5 % too long.
inline constexpr double kLongPushedRangeNs = 20 * kPushedRangeNs;

// The spreads of a launch key's means per launch over kept windows.
struct KeySpreads {
  Spread flops;       // weighted instructions of flops windows; where windows are launches the
                      // smallest and the largest launch of each window
  Spread bytes;       // DRAM bytes in all hw windows
  Spread counted_ns;  // gpu__time_duration in all hw windows
  Spread time_ns;     // durations in time windows whose records have come
  // counted_ns' mean when FLOPs were counted last: hardware windows go on after it. 0: unknown.
  double ns_at_flops = 0;
  bool pushed = false;  // counted_ns is of ranges that were pushed, see kPushedRangeNs
  bool mixed = false;   // launches of one step do different amounts of work
  // Whether even (bit 0) and odd (bit 1) numbered windows collected FLOPs, or anything else.
  std::uint8_t flops_turns = 0, other_turns = 0;

  void saw(bool in_flops, WindowId window) {
    (in_flops ? flops_turns : other_turns) |= static_cast<std::uint8_t>(1u << (window % 2));
  }
  // Whether FLOPs came only from every second step and all else from the others. If the work
  // alternates between steps, they are then of different work.
  [[nodiscard]] bool takes_turns() const {
    return flops_turns != 0 && other_turns != 0 && (flops_turns & other_turns) == 0;
  }
};

}  // namespace gable

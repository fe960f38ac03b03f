// SPDX-License-Identifier: Apache-2.0
// One window while it is collected: everything in it counts only when the window turns out to be
// kept.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/profile/key_table.h"
#include "analysis/profile/launch_latency.h"
#include "analysis/profile/layer_stats.h"
#include "analysis/profile/token_sum.h"

namespace gable {

// A launch key within a window: its launches and the sums of its counter samples.
struct WindowKey {
  KeyIndex key = kOtherKey;
  std::uint64_t launches = 0;
  CounterSums counters;
  double least_flops = std::numeric_limits<double>::infinity();  // smallest FLOPs of one launch
  double most_flops = -std::numeric_limits<double>::infinity();
  bool from_records = false;  // its launches are counted by records, as no graph told of them
  bool pushed = false;        // its counters are of ranges that were pushed
};

struct CopyGroup {
  CopyKind kind = CopyKind::other;
  std::int32_t device = 0;
  std::optional<LayerId> layer;  // empty: the call was not seen
  HostMemory host = HostMemory::unknown;
  // NOLINTNEXTLINE(modernize-use-nullptr): the check takes <=> for a null
  friend auto operator<=>(const CopyGroup&, const CopyGroup&) = default;
};
struct CopySum {
  std::uint64_t count = 0, bytes = 0, time_ns = 0;
  std::uint64_t sized = 0;  // copies of `count` with known bytes
  void add(const CopySum& other) {
    count += other.count;
    sized += other.sized;
    bytes += other.bytes;
    time_ns += other.time_ns;
  }
};
using CopySums = std::map<CopyGroup, CopySum>;

struct Window {
  WindowId id = kNoWindow;
  Phase phase;
  bool ended = false;
  // False once a kernel of the window has no usable time, or too many had to be held.
  bool unions_known = true;
  std::uint64_t waiting = 0;  // number of kernel records still to come
  bool incomplete = false;    // some records never came: unknown copies may be missing too
  WindowEnd end;
  std::vector<WindowKey> keys;
  std::vector<HeldRecord> records;
  std::unordered_map<KeyIndex, Moments> overflow;  // durations beyond max_window_records, and those
                                                   // of graphs, whose kernels are held themselves
  std::unordered_map<LayerId, SpanSum> spans;
  CopySums copies;
  std::unordered_map<LayerId, TokenSum> tokens;
  LaunchLatency latency;

  // Index of a key in `keys`.
  [[nodiscard]] std::optional<std::size_t> place_of(KeyIndex key) {
    for (; known_places < keys.size(); ++known_places)
      places.try_emplace(keys[known_places].key, known_places);
    const auto found = places.find(key);
    return found == places.end() ? std::nullopt : std::optional(found->second);
  }
  std::unordered_map<KeyIndex, std::size_t> places;  // of the first known_places of `keys`
  std::size_t known_places = 0;
};

}  // namespace gable

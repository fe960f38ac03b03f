// SPDX-License-Identifier: Apache-2.0
// Joins the ranges of a counter window to its launches and verifies them. Pure code: a window that
// does not verify is thrown away whole, with the sentence that says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/events/join_checks.h"

namespace gable {

enum class RangeMode : std::uint8_t {
  user,       // ranges are pushed and popped around each launch
  automatic,  // CUPTI makes one range of each kernel and waits for the context after every launch
  layer,      // ranges are pushed and popped where the layer of the launches changes
  replay,     // as automatic, and CUPTI runs each kernel as often as its counters need
};
// Whether Gable pushes the ranges; otherwise CUPTI makes one for every launch and waits after it.
[[nodiscard]] constexpr bool are_pushed(RangeMode mode) {
  return mode == RangeMode::user || mode == RangeMode::layer;
}

struct RangeValues {
  std::string name;            // as pushed; "0", "1" … in automatic mode
  std::vector<double> values;  // one per metric of the plan; NaN is unknown
};
struct RangeReading {
  std::vector<RangeValues> ranges;
  std::uint64_t dropped = 0;  // ranges that did not fit the counter image
};

struct RangedLaunch {
  LaunchKey key;
  std::uint32_t ordinal = 0;
  bool launched = true;  // the driver's call succeeded
  // For a range of several launches:
  std::uint64_t launches = 1, blocks = 0;
  FunctionId newest = 0;  // the newest kernel in it, by first launch
  // How many ranges CUPTI may make for it: one for each kernel of a replayed graph.
  std::uint32_t parts = 1;
  bool graph = false;
};

struct CounterResult {
  bool keep = false;
  std::string reason;           // a sentence, when not kept
  int code = 0;                 // CUptiResult of the call that failed, when one did
  std::vector<LaunchKey> keys;  // of the launches with values, in launch order; empty when not kept
  std::vector<std::uint32_t> ordinals;  // as given to before_launch, parallel to `keys`
  std::vector<std::uint64_t> launches;  // how many launches each row sums, parallel to `keys`
  std::vector<FunctionId> newest;       // the newest kernel in each row, parallel to `keys`
  std::vector<double> values;           // keys.size() rows of `metrics` values; NaN is unknown
  std::size_t metrics = 0;
  std::uint64_t dropped = 0;      // ranges CUPTI dropped, or that came back without a launch
  std::uint64_t missing = 0;      // launches without a range
  std::uint64_t mismatched = 0;   // launches whose count of thread blocks is not their grid
  std::uint64_t uncountable = 0;  // graphs with an unknown number of ranges
  std::uint64_t left_out = 0;     // launches of graphs of which CUPTI made no ranges
  // Launches without a turn, or beyond max_ranges.
  std::uint64_t unranged = 0;
};

struct JoinRequest {
  const std::vector<RangedLaunch>& launches;
  const std::vector<std::string>& metrics;
  RangeMode mode = RangeMode::user;
  std::size_t max_ranges = 0;
  // With layer ranges: the window's launches went to several streams, so a range may count blocks
  // of other layers.
  bool several_streams = false;
};

// Adds keys, values and counts to `result` (whose `unranged` is known), then decides: keep and
// reason. User ranges are joined by the name we gave, automatic ones by CUPTI's own count.
void join_ranges(const JoinRequest& request, const RangeReading& reading, CounterResult& result,
                 const JoinChecks& checks = {});

struct CountersOutcome {
  bool keep = true;
  std::string reason;
  std::vector<CounterResult> contexts;
  std::uint64_t lost_ranges = 0;
  std::uint64_t graphs_left_out = 0;
  bool too_small = false;   // more launches than ranges: ask for more next time
  bool mismatched = false;  // a launch's thread blocks were not those of its grid
  bool misfit = false;      // the counters do not fit the launches, though there was room
  std::string failed;       // a sentence about the first call of CUPTI that failed, when one did
  int failed_code = 0;      // its CUptiResult
};
// Combines the results of one window over all contexts.
[[nodiscard]] CountersOutcome outcome_of(std::vector<CounterResult> contexts);

}  // namespace gable

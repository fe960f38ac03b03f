// SPDX-License-Identifier: Apache-2.0
// Counters of ranges: consecutive launches of one layer counted together. What they say is kept in
// a row of the layer's own, beside those of its kernels.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/events.h"
#include "analysis/key_table.h"
#include "analysis/layer_stats.h"
#include "analysis/maybe.h"

namespace gable {

// The symbol under which ranges stand among the functions.
inline constexpr std::string_view kRangeSymbol = "(range)";

// What stands for a layer's ranges in launch keys; `function` is kRangeSymbol's.
[[nodiscard]] inline LaunchKey range_key(LayerId layer, std::int32_t device, FunctionId function) {
  LaunchKey key;
  key.layer = layer;
  key.function = function;
  key.device = device;
  key.grid = key.block = key.cluster = {0, 0, 0};
  return key;
}

// For how long kernels of a layer ran beside kernels of other layers on the same GPU: what a range
// counts then may be theirs too.
class Overlaps {
 public:
  // The complete records of one window, sorted by start.
  void add_window(const std::vector<HeldRecord>& records, const KeyTable& keys);
  // Share of the time of the layer's own kernels; empty where none was timed.
  [[nodiscard]] Maybe share(std::int32_t device, LayerId layer) const;

 private:
  struct Times {
    std::uint64_t whole_ns = 0, beside_ns = 0;
  };
  std::map<std::pair<std::int32_t, LayerId>, Times> times_;
};

// What the kernels of a layer say of the ranges they were counted in.
struct RangeContent {
  std::uint64_t threads = 0, launches = 0;  // all that were launched
  std::string name;  // of a kernel that uses tensor cores by its name, else of any
};
using RangeContents = std::map<std::pair<std::int32_t, LayerId>, RangeContent>;

}  // namespace gable

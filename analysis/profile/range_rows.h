// SPDX-License-Identifier: Apache-2.0
// Counters of ranges: consecutive launches of one layer counted together. They are kept in the
// layer's own row, beside its kernels' rows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/maybe.h"
#include "analysis/events/events.h"
#include "analysis/profile/key_table.h"
#include "analysis/profile/layer_stats.h"

namespace gable {

// The symbol that represents ranges among the functions.
inline constexpr std::string_view kRangeSymbol = "(range)";

// The launch key of a layer's ranges; `function` is kRangeSymbol's.
[[nodiscard]] inline LaunchKey range_key(LayerId layer, std::int32_t device, FunctionId function) {
  LaunchKey key;
  key.layer = layer;
  key.function = function;
  key.device = device;
  key.grid = key.block = key.cluster = {0, 0, 0};
  return key;
}

// How long kernels of a layer ran beside those of other layers on the same GPU, which a range may
// then have counted too.
class Overlaps {
 public:
  // The complete records of one window, sorted by start.
  void add_window(const std::vector<HeldRecord>& records, const KeyTable& keys);
  // The overlap as a share of the time of the layer's own kernels; empty if none was timed.
  [[nodiscard]] Maybe share(std::int32_t device, LayerId layer) const;

 private:
  struct Times {
    std::uint64_t whole_ns = 0, beside_ns = 0;
  };
  std::map<std::pair<std::int32_t, LayerId>, Times> times_;
};

// What the kernels of a layer tell about its ranges.
struct RangeContent {
  std::uint64_t threads = 0, launches = 0;  // all that were launched
  std::string name;  // a kernel's name, preferably one that says it uses tensor cores
};
using RangeContents = std::map<std::pair<std::int32_t, LayerId>, RangeContent>;

}  // namespace gable

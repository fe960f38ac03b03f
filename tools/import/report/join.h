// SPDX-License-Identifier: Apache-2.0
// Which counters belong to which timed kernel: by name, grid, block and order.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tools/import/records/imported.h"

namespace gable {

// The name that tools agree on: without spaces, casts of template arguments and return types.
[[nodiscard]] std::string common_name(std::string_view name);
// And without template arguments and parameters: ncu prints `gemm` for `void gemm<4>(float*)` when
// asked so.
[[nodiscard]] std::string base_name(std::string_view name);

struct Join {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> of_kernel;           // place in `counters`; kNone: nothing was counted
  std::vector<Imported::CounterLaunch> counters;  // of single launches, and means behind them
  std::vector<std::string> notes;
};

// Kernels are in the order of their starts. Takes the counters out of `imported`.
[[nodiscard]] Join join_counters(Imported& imported);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The columns of the table. Internal to analysis/.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/show/columns.h"
#include "tools/show/table_rows.h"

namespace gable {

// The heads of what only some reports have: occupancy, warp efficiency, hit rates, L1 sectors for
// each load.
inline constexpr const char* kMetricHeads[] = {"SM thr.", "mem thr.", "occup.", "warp eff",
                                               "L1 hit",  "L2 hit",   "sect/ld"};

// The first column is the row's name. `count` rows; savings per unit where all reports have steps.
[[nodiscard]] std::vector<Column> table_columns(const TableRows& table, std::size_t count,
                                                bool processes, bool per_step);

}  // namespace gable

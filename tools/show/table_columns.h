// SPDX-License-Identifier: Apache-2.0
// The columns of the table. Internal to analysis/.
#pragma once

#include <cstddef>
#include <vector>

#include "tools/show/columns.h"
#include "tools/show/table_rows.h"

namespace gable {

// The first column is the row's name. `count` rows; savings per unit where all reports have steps.
[[nodiscard]] std::vector<Column> table_columns(const TableRows& table, std::size_t count,
                                                bool processes, bool per_step);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The columns of the table. Internal to analysis/.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/table_rows.h"

namespace gable {

struct Column {
  std::string head;
  bool left = false;
  std::vector<std::string> cells;
  std::vector<const char*> colours;  // of the cells where they have one: ANSI codes, or none at all
  [[nodiscard]] std::size_t width() const;
};

// The first column is the row's name. `count` rows; savings per unit where all reports have steps.
[[nodiscard]] std::vector<Column> table_columns(const TableRows& table, std::size_t count,
                                                bool processes, bool per_step);

}  // namespace gable

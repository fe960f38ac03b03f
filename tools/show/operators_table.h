// SPDX-License-Identifier: Apache-2.0
// The framework's operators in a table: below which layer, on what shapes, called where.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/plot/row_query.h"

namespace gable {

struct OperatorsTable {
  std::size_t columns = 100, rows = 10;
  bool colours = false, each = false;  // each: equal layers have rows of their own
  std::vector<Pattern> layers = {};    // only operators within these; empty: all
};

// "float32[2,3,32,32], int64[2]"
[[nodiscard]] std::string shown_shapes(const std::vector<TensorShape>& shapes);

// Longest first; those of equal layers, such as a block's that recurs, are one row with the sums of
// all. Empty if no report has operators within the layers.
[[nodiscard]] std::string render_operators(const std::vector<Report>& reports,
                                           const OperatorsTable& options);

}  // namespace gable

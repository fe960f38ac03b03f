// SPDX-License-Identifier: Apache-2.0
// Layers that do the same work equally fast, such as a block's that recurs, as one row. Internal to
// tools/show.
#pragma once

#include <string>
#include <vector>

#include "tools/show/table_rows.h"

namespace gable {

// Makes one row of layers of one report that have the same last name, depth, direction, bound,
// precision and launches, FLOPs that differ by at most 1 % and times that differ by at most 25 %
// from those of the first of them. It stands in the place of the first; numbers are of all of them.
void fold_equal_layers(std::vector<TableRow>& rows);

// Whether times differ by so little. What is unknown of both differs by nothing.
[[nodiscard]] bool take_as_long(const Maybe& a, const Maybe& b);

// "layer4/{1,2}/conv2", "block{0..11}/mlp*"; "*" also stands for more parts than can be listed.
// Paths of the same number of parts.
[[nodiscard]] std::string name_of_paths(const std::vector<std::vector<std::string>>& paths);

}  // namespace gable

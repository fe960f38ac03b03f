// SPDX-License-Identifier: Apache-2.0
// Names in a column of a table, where they are longer than it is wide.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gable {

// Each at most `columns` wide, in their order. What says most stays: of a kernel the function's
// name and its grid, of a path its last part; and where different names would look alike, what
// differs.
[[nodiscard]] std::vector<std::string> shortened_names(const std::vector<std::string>& names,
                                                       std::size_t columns);

}  // namespace gable

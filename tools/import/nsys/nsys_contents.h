// SPDX-License-Identifier: Apache-2.0
// An export of nsys that has no kernel: what it does hold, and what nsys itself says of it.
#pragma once

#include <string>

#include "tools/streams/sqlite_file.h"

namespace gable {

// The sentence that refuses it: what is there, why there are no kernels as far as nsys's
// diagnostics know it, and what to do.
[[nodiscard]] std::string nsys_without_kernels(SqliteFile& file);

}  // namespace gable

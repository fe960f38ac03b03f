// SPDX-License-Identifier: Apache-2.0
// report.json as text. docs/report.md explains the fields, docs/report.schema.json validates them.
#pragma once

#include <string>

#include "analysis/report/report.h"

namespace gable {

// Indented UTF-8 JSON that ends in a newline. Bad bytes become U+FFFD; a number that is not finite
// becomes null.
[[nodiscard]] std::string to_json(const Report& report);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// report.json as text. docs/report.md explains the fields, docs/report.schema.json validates them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/report/report.h"

namespace gable {

// Indented UTF-8 JSON that ends in a newline. Bad bytes become U+FFFD; a number that is not finite
// becomes null.
[[nodiscard]] std::string to_json(const Report& report);

struct ParsedReport {
  std::optional<Report> report;
  std::string error;  // one sentence when there is no report
};
// Reads schema 1 and whatever a later writer added to it. A report of a higher schema is refused.
// Never throws.
[[nodiscard]] ParsedReport from_json(std::string_view text);

}  // namespace gable

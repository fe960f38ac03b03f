// SPDX-License-Identifier: Apache-2.0
// Reads a report from the text of a report.json. The profiled program only writes reports, so this
// is separate from report_json.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/report/report.h"

namespace gable {

struct ParsedReport {
  std::optional<Report> report;
  std::string error;  // one sentence when there is no report
};
// Reads schema 1 and whatever a later writer added to it. A report of a higher schema is refused.
// Never throws.
[[nodiscard]] ParsedReport from_json(std::string_view text);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What a browser shows of a report without scripts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Text inside an element of HTML.
[[nodiscard]] std::string html_text(std::string_view text);

// HTML: the title, the roofline chart of layers as it stands, what a step is, what would help most,
// and the ten layers with the largest savings; of a job's ranks those of the slowest one. `files`
// has a name for each report.
[[nodiscard]] std::string still_view(const std::vector<Report>& reports,
                                     const std::vector<std::string>& files);

}  // namespace gable

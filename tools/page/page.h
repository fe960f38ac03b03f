// SPDX-License-Identifier: Apache-2.0
// The report page: one HTML file that opens from disk and needs no network. Its parts (page.html,
// page.css, *.js and D3) are in the program; scripts/cmake/GablePage.cmake puts them there.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// `files` has a name for each report. Several reports share one chart. With `comparison`, JSON as
// diff_json writes it, the page is about two reports: what changed from the first to the second.
[[nodiscard]] std::string render_page(const std::vector<Report>& reports,
                                      const std::vector<std::string>& files,
                                      const std::string& comparison = {});

}  // namespace gable

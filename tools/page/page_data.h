// SPDX-License-Identifier: Apache-2.0
// The data of the report page, as JSON inside it. Rows are lists below the names of their columns,
// so that 10,000 kernels stay small; what all rows share stands in `same` instead; a column "$name"
// holds places in `strings`; numbers have five significant digits; unknown is null. What follows
// from a kernel's own numbers (intensity, rates, share, overhead box) is left to the page.
//             A column "%name" lists names and values in turns; one name alone has all FLOPs
//   strings   texts, each once, cut at kLongestText bytes
//   comparison  of two runs: what diff_json writes, of layers (of kernels where there are none)
//   reports   [{file, report, layers, dots: {layers, kernels}, advice: [{id, places, action,
//             where, trigger, saving}]}]; places are [layer's path, direction]
//     report  as in the report's file, but without the rows of layers and kernels
//     layers  the tree: every row of the report, sums with children
//     dots    what the chart shows: layers' own work, and kernels (tools/plot/plot.h)
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

inline constexpr std::size_t kLongestText = 2048;

// `files` has a name for each report. The text can stand inside a <script> element. `comparison` as
// in render_page.
[[nodiscard]] std::string page_data(const std::vector<Report>& reports,
                                    const std::vector<std::string>& files,
                                    const std::string& comparison = {});

}  // namespace gable

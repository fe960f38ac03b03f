// SPDX-License-Identifier: Apache-2.0
// Reports as one page of facts for scripts and language models: what the first screen of the page
// says, with units in the names, in JSON. What is unknown is null.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/plot/row_query.h"

namespace gable {

// `rows`: layers (or kernels) of each report; equal layers are one row. Numbers have five
// significant digits. docs/commands/report.md describes the fields.
[[nodiscard]] std::string export_summary(const std::vector<Report>& reports,
                                         const std::vector<std::string>& names,
                                         const RowQuery& query, std::size_t rows);

}  // namespace gable

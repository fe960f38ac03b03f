// SPDX-License-Identifier: Apache-2.0
// Imported times and counters as a report, through the same analysis as measured ones.
#pragma once

#include "analysis/report/report.h"
#include "analysis/roofline/measured_roofs.h"
#include "tools/import/records/imported.h"

namespace gable {

// Consumes what was read. Throws WrongUse where there is nothing to report.
[[nodiscard]] Report assemble(Imported& imported, const StoredRoofs& roofs);

}  // namespace gable

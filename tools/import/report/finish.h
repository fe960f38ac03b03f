// SPDX-License-Identifier: Apache-2.0
// What a report says of where its numbers come from.
#pragma once

#include "analysis/profile/profile.h"
#include "analysis/report/report.h"
#include "analysis/roofline/measured_roofs.h"
#include "tools/import/records/imported.h"

namespace gable {

[[nodiscard]] Report finish_report(const Imported& imported, const Profile& profile,
                                   const StoredRoofs& roofs, bool counted, bool timed);

}  // namespace gable

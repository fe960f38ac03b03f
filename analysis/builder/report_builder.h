// SPDX-License-Identifier: Apache-2.0
// Makes the report from what was accumulated.
#pragma once

#include "analysis/profile/profile.h"
#include "analysis/report/report.h"
#include "analysis/roofline/measured_roofs.h"

namespace gable {

// `base` is what only the collector knows (command, host, notes …). Unit, scope of counts, totals,
// steps, losses and the notes about the numbers are filled in here; `base.lost` is added to the
// profile's own losses. `roofs`: measured roofs of GPUs; those of the profile's devices are used.
// Can be called while the profile still grows: a snapshot.
[[nodiscard]] Report build_report(const Profile& profile, const RunInfo& base,
                                  const StoredRoofs& roofs = {});

// Whether any kernel launch was counted: a process without launches leaves no report.
[[nodiscard]] bool has_launches(const Profile& profile);

}  // namespace gable

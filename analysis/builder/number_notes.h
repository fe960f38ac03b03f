// SPDX-License-Identifier: Apache-2.0
// What a reader of the numbers must know, in sentences.
#pragma once

#include <string>
#include <vector>

#include "analysis/profile/profile_state.h"
#include "analysis/report/report.h"

namespace gable {

// Sentences about how the numbers came about.
[[nodiscard]] std::vector<std::string> number_notes(const Profile::State& state,
                                                    const Report& report);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What gable doctor asks CUPTI, asked in processes that may die: several of its releases end the
// process that asks them where they cannot reach the driver.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collector/cupti/cupti_api.h"
#include "collector/cupti/driverless.h"
#include "tools/doctor/doctor_findings.h"

namespace gable {

// examine() in a process of its own. A CUPTI that ends it, or keeps it waiting, is left out with a
// sentence, and the next one found is asked; one that --cupti names is the only one.
[[nodiscard]] Examination examine_elsewhere(const std::string& cupti);

// Runs `plan` in a process of its own for one CUPTI after the other, until one answers; its exit
// code. `plan` returns kNoAnswer where its CUPTI does not. Says of each that did not serve why.
inline constexpr int kNoAnswer = 64;
[[nodiscard]] int plan_elsewhere(const std::string& cupti,
                                 const std::function<int(const CuptiApi&)>& plan);

}  // namespace gable

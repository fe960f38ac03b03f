// SPDX-License-Identifier: Apache-2.0
// Calls CUPTI for gable doctor in child processes: several releases end the calling process if they
// cannot reach the driver.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collector/cupti/cupti_api.h"
#include "collector/cupti/driverless.h"
#include "tools/doctor/doctor_findings.h"

namespace gable {

// Runs examine() in a child process. A CUPTI that ends it or blocks it is skipped with a sentence,
// and the next one found is tried; with --cupti there is only that one.
[[nodiscard]] Examination examine_elsewhere(const std::string& cupti);

// Runs `plan` in a child process for one CUPTI after another until one answers, and returns its
// exit code. `plan` returns kNoAnswer if its CUPTI does not, and calls its second argument now and
// then if it takes long: without a sign its CUPTI counts as one that hangs. Reports why each other
// one did not serve.
inline constexpr int kNoAnswer = 64;
using PlanQuestion = std::function<int(const CuptiApi&, const std::function<void()>& under_way)>;
[[nodiscard]] int plan_elsewhere(const std::string& cupti, const PlanQuestion& plan);

}  // namespace gable

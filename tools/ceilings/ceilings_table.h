// SPDX-License-Identifier: Apache-2.0
// What `gable ceilings` prints: every roof of a GPU, measured and theoretical.
#pragma once

#include <string>
#include <vector>

#include "analysis/roofline/measured_roofs.h"

namespace gable {

// A roof whose benchmark could not run here.
struct FailedRoof {
  std::string name, how, why;
};

// No line is wider than 100 columns. Theoretical values are at the SM clock that was measured while
// the benchmark ran, else at the highest; those without a benchmark are listed too. Below stand the
// sentences: what is above its theoretical value, what was not steady, what failed. `no_latency`:
// why the launch latency was not measured.
[[nodiscard]] std::string ceilings_table(const MeasuredRoofs& measured,
                                         const std::vector<FailedRoof>& failed,
                                         const std::string& no_latency = {});

}  // namespace gable

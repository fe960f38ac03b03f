// SPDX-License-Identifier: Apache-2.0
// Turns --metrics into metrics of one pass each on a chip, with sentences about what the chip
// cannot give.
#pragma once

#include <string>
#include <vector>

#include "collector/metrics/chip_metrics.h"

namespace gable {

struct LeftOut {
  std::string metric;   // as it was asked for
  bool exists = false;  // the chip has it, but not in one pass
  std::string sentence;
};

struct MetricRequest {
  bool roofline = false;
  MetricNames metrics;  // beyond the roofline: single-pass, full names, each once
  std::vector<LeftOut> left_out;
  std::vector<std::string> notes;  // sentences on what is collected instead of what
};

// `wanted`: names of sets and metrics as Settings::metrics has them; empty is the roofline. A name
// without a roll-up gets ".sum", a ratio ".ratio" (".pct" where the name is that of a rate), a
// throughput ".avg.pct_of_peak_sustained_elapsed".
[[nodiscard]] MetricRequest read_request(ChipMetrics& chip, const std::vector<std::string>& wanted);

}  // namespace gable

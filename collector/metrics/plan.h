// SPDX-License-Identifier: Apache-2.0
// Which metrics are collected in which pass on a chip. Asks CUPTI's Profiler Host API, which needs
// no GPU: every candidate metric alone with a fresh host object (a rejected one poisons it), then
// packs the hardware metrics greedily into passes. Used by the collector in a running program and
// by `gable doctor --chip`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/events/events.h"
#include "collector/cupti/cupti_api.h"
#include "collector/metrics/metric_request.h"

namespace gable {

// One configuration that CUPTI collects in a single pass.
struct PassPlan {
  Phase phase;                       // hw with its group, or flops
  bool replayed = false;             // needs several passes; for kernel replay only
  std::vector<std::string> metrics;  // full names with their roll-up: "dram__sectors_read.sum"
  // For cuptiRangeProfilerSetConfig; must outlive the profiler's Disable.
  std::vector<std::uint8_t> config_image;
};

struct MetricPlan {
  std::string chip;
  // The hw groups in order, then flops; empty when nothing can be collected.
  std::vector<PassPlan> passes;
  std::vector<std::string> unavailable;  // quantities this chip has no single-pass metric for; only
                                         // where the roofline was asked for
  std::vector<std::string> raw;          // collected on request, not used for operations or bytes
  // Metrics in the passes from which CUPTI states roofs (analysis/events/roof_metrics.h); those
  // that were asked for are in `raw`, too.
  std::vector<std::string> roofs;
  std::vector<LeftOut> left_out;   // what --metrics asked for and the chip does not give
  std::vector<std::string> notes;  // sentences on what is collected instead of what
  std::string error;               // one sentence when no plan could be made
};

// `wanted`: Settings::metrics; empty is the roofline. `availability`: counter availability image of
// the device, or empty.
[[nodiscard]] MetricPlan plan_metrics(const CuptiApi& api, const std::string& chip,
                                      const std::vector<std::string>& wanted = {},
                                      const std::vector<std::uint8_t>& availability = {});

// The same for several requests about one chip.
[[nodiscard]] MetricPlan plan_metrics(ChipMetrics& chip, const std::vector<std::string>& wanted);

// Chips that the loaded CUPTI knows.
[[nodiscard]] std::vector<std::string> supported_chips(const CuptiApi& api);

}  // namespace gable

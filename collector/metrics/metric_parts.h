// SPDX-License-Identifier: Apache-2.0
// Replaces a metric that needs several passes by its single-pass parts, by CUPTI's naming rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/events/quantities.h"
#include "collector/metrics/chip_metrics.h"

namespace gable {

// The single-pass metrics that `metric` is made of: itself, or
//  - what a tensor metric is the sum of: instructions, destination types, sparsity
//  (tensor_metric.h)
//  - what a rate or an average is the quotient of: "…t_sector_hit_rate" = "…t_sectors_lookup_hit" /
//  "…t_sectors",
//    "…average_t_sectors_per_request…" = "…t_sectors…" / "…t_requests…"
// Empty when the chip lacks it, or not all of its parts are single-pass.
[[nodiscard]] MetricNames single_pass_parts(ChipMetrics& chip, std::string_view metric);

// The chip's metrics that count tensor operations of a kind, by input type in the order of the role
// table. Each type's metrics add up to its operations; none includes another. A type's metrics
// are empty if not all of its operations can be counted.
struct TensorType {
  std::string type;
  MetricNames metrics;
};
[[nodiscard]] std::vector<TensorType> tensor_types(ChipMetrics& chip, Quantity kind);

}  // namespace gable

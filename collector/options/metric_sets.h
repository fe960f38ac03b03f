// SPDX-License-Identifier: Apache-2.0
// The named sets of --metrics. Pure text: what a chip has is for the planner to ask.
#pragma once

#include <string_view>
#include <vector>

namespace gable {

// One thing to know of a kernel, from metrics that every chip collects in single passes, as far as
// it has them.
struct SetQuantity {
  std::string_view name;     // "achieved occupancy"
  std::string_view formula;  // how it follows from the metrics; empty: it is the metric
  std::vector<std::string_view> metrics;
};

struct MetricSet {
  std::string_view name;                // "cache"
  std::string_view gives;               // half a sentence
  std::vector<SetQuantity> quantities;  // empty for `roofline`, whose metrics are those with a role
};

[[nodiscard]] const std::vector<MetricSet>& metric_sets();  // roofline first
// nullptr when no set has that name.
[[nodiscard]] const MetricSet* find_metric_set(std::string_view name);

inline constexpr std::string_view kRooflineSet = "roofline";

}  // namespace gable

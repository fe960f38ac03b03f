// SPDX-License-Identifier: Apache-2.0
// The named sets of --metrics. Pure text; the planner finds out what a chip has.
#pragma once

#include <string_view>
#include <vector>

namespace gable {

// One fact about a kernel, derived from metrics that every chip that has them collects in single
// passes.
struct SetQuantity {
  std::string_view name;     // "achieved occupancy"
  std::string_view formula;  // how to compute it from the metrics; empty: it is the metric
  std::vector<std::string_view> metrics;
};

struct MetricSet {
  std::string_view name;                // "cache"
  std::string_view gives;               // a clause that says what the set shows
  std::vector<SetQuantity> quantities;  // empty for `roofline`, whose metrics are those with a role
};

[[nodiscard]] const std::vector<MetricSet>& metric_sets();  // roofline first
// nullptr when no set has that name.
[[nodiscard]] const MetricSet* find_metric_set(std::string_view name);

inline constexpr std::string_view kRooflineSet = "roofline";

}  // namespace gable

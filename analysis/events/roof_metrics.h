// SPDX-License-Identifier: Apache-2.0
// The metrics from which CUPTI states a roof: how many bytes a unit of the whole chip moves in a
// cycle at most, and how many cycles its clock has in a second. bytes per cycle x Hz is byte/s. ncu
// draws its own rooflines of memory from metrics of this kind (the sections MemoryWorkloadAnalysis
// and SpeedOfLight_HierarchicalRoofline).
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace gable {

struct RoofMetric {
  std::string_view roof;   // as in Ceiling::name
  std::string_view shown;  // to people
  std::string_view peak;   // bytes per cycle, of all units of the chip together
  std::string_view clock;  // cycles per second of the unit; empty: the SMs' clock is the unit's
};

// The most useful first. Tensor cores are not among them: CUPTI states what the chip can do, and
// boards of one chip have different rates (docs/ceilings.md).
inline constexpr std::array kRoofMetrics = {
    RoofMetric{"l2", "L2", "lts__t_bytes.sum.peak_sustained", "lts__cycles_elapsed.avg.per_second"},
    RoofMetric{"l1", "L1", "l1tex__t_bytes.sum.peak_sustained", ""},
    RoofMetric{"dram", "DRAM", "dram__bytes.sum.peak_sustained",
               "dram__cycles_elapsed.avg.per_second"},
};

// The roof that a metric is for; nullptr: none.
[[nodiscard]] inline const RoofMetric* roof_metric(std::string_view metric) {
  const auto found =
      std::find_if(kRoofMetrics.begin(), kRoofMetrics.end(), [&](const RoofMetric& each) {
        return !metric.empty() && (each.peak == metric || each.clock == metric);
      });
  return found == kRoofMetrics.end() ? nullptr : &*found;
}

}  // namespace gable

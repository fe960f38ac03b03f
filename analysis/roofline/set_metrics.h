// SPDX-License-Identifier: Apache-2.0
// Computes the shares and ratios of --metrics mix, warps and cache from counters.
//   occupancy            sm__warps_active.avg.pct_of_peak_sustained_active
//   warp efficiency      thread instructions / (32 x warp instructions)
//   branch uniformity    1 - divergent branch targets / branch targets
//   hit rates            hits / sectors
//   sectors per request  sectors / requests, or instructions that make one each
//   throughputs          …__throughput.avg.pct_of_peak_sustained_elapsed
//   mix                  thread instructions of a kind / all of them
//   memory mix           warp instructions of a kind / all of them
// Where a file has the ratio and not its parts, as ncu prints it, it stands in.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// A metric by its name in the report.
struct NamedMetric {
  const char* name;
  Maybe SetMetrics::*value;
};
inline constexpr NamedMetric kSetMetrics[] = {
    {"occupancy", &SetMetrics::occupancy},
    {"warp_efficiency", &SetMetrics::warp_efficiency},
    {"warp_efficiency_predicated", &SetMetrics::warp_efficiency_predicated},
    {"branch_uniformity", &SetMetrics::branch_uniformity},
    {"l1_hit_rate", &SetMetrics::l1_hit_rate},
    {"l2_hit_rate", &SetMetrics::l2_hit_rate},
    {"sectors_per_load", &SetMetrics::sectors_per_load},
    {"sectors_per_store", &SetMetrics::sectors_per_store},
    {"l2_sectors_per_request", &SetMetrics::l2_sectors_per_request},
    {"compute_throughput", &SetMetrics::compute_throughput},
    {"memory_throughput", &SetMetrics::memory_throughput},
    {"dram_throughput", &SetMetrics::dram_throughput},
};
// The kinds of `mix` and of `memory_mix`.
[[nodiscard]] std::vector<std::string> mix_kinds();
[[nodiscard]] std::vector<std::string> memory_mix_kinds();

// A metric over launches: the sum of its values and the number of launches.
struct CountedMetric {
  double sum = 0;
  std::uint64_t launches = 0;
};
// Metrics by full name in the windows of one phase, counted over the same launches.
using CountedTogether = std::map<std::string, CountedMetric, std::less<>>;

// A ratio divides sums over the phases that counted both of its parts, over equally many launches;
// empty if there is nothing to divide by. A chip counts hits of L2 and its sectors in different
// passes: `same_work` says that all windows saw the same work, so that means of both may be
// divided. A share above 1 is impossible and becomes unknown; for L2, from two executions, above
// 1.05. Empty if nothing is known.
[[nodiscard]] std::optional<SetMetrics> set_metrics_of(const std::vector<CountedTogether>& phases,
                                                       bool same_work);

// The same for several kernels: sums of numerators over sums of denominators from the kernels'
// counters. Occupancy is weighted by the kernels' time.
class SetMetricsSum {
 public:
  void add(const KernelRow& kernel);
  // The metrics known for all kernels; a kernel with nothing to divide by counts as known.
  [[nodiscard]] std::optional<SetMetrics> of_all() const;
  // The metrics known for kernels with at least `least_ns` of the time.
  [[nodiscard]] std::optional<SetMetrics> of_time(double least_ns) const;

 private:
  struct Ratio {
    double top = 0, bottom = 0, time_ns = 0;
    std::size_t known = 0;  // rows with a value, or with nothing to divide by
    Maybe least, most;      // among rows with a value
    bool weighed = true;    // every row has a weight
  };
  void add(Ratio& ratio, const Maybe& value, const Maybe& weight, double launches, double time_ns);
  void add(std::map<std::string, Ratio>& ratios, const std::map<std::string, Maybe>& values,
           const Maybe& weight, double launches, double time_ns);
  [[nodiscard]] std::optional<SetMetrics> result(
      const std::function<bool(const Ratio&)>& enough) const;

  std::size_t rows_ = 0;
  std::vector<Ratio> ratios_;  // in the order of the catalogue
  std::map<std::string, Ratio> mix_, memory_mix_;
};

}  // namespace gable

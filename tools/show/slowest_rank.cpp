// SPDX-License-Identifier: Apache-2.0
#include "tools/show/slowest_rank.h"

#include <cstdint>
#include <set>

#include "analysis/base/display.h"

namespace gable {
namespace {

constexpr double kSpreadMatters = 0.05;  // of the mean

// What a rank computes, without waiting for others. Unknown where a part is.
Maybe computing_ns(const Report& report) {
  double sum = 0;
  for (const KernelRow& kernel : report.kernels) {
    if (kernel.counts_again() || kernel.roof.bound == Bound::communication) continue;
    if (!kernel.time_total_ns) return std::nullopt;
    sum += *kernel.time_total_ns;
  }
  return sum;
}

}  // namespace

std::optional<SlowestRank> slowest_rank(const std::vector<Report>& reports) {
  if (reports.size() < 2) return std::nullopt;
  std::set<std::int64_t> ranks;
  SlowestRank slowest;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    const bool own = report.run.rank && ranks.insert(*report.run.rank).second;
    const Maybe time = computing_ns(report);
    if (!own || report.run.unit != reports.front().run.unit || !(time.value_or(0) > 0))
      return std::nullopt;
    slowest.mean_ns += *time / static_cast<double>(reports.size());
    if (*time <= slowest.time_ns) continue;
    slowest.place = i;
    slowest.time_ns = *time;
  }
  return slowest;
}

std::string ranks_line(const std::vector<Report>& reports) {
  const auto slowest = slowest_rank(reports);
  if (!slowest) return {};
  const RunInfo& run = reports[slowest->place].run;
  const std::string text = "Without communication kernels take " + duration(slowest->time_ns) +
                           " a " + to_string(run.unit) + " on rank " + std::to_string(*run.rank) +
                           ", the longest, and " + duration(slowest->mean_ns) + " on average";
  return text + (slowest->time_ns > (1 + kSpreadMatters) * slowest->mean_ns
                     ? ": the others wait for it."
                     : ".");
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "tools/advice/advice_rules.h"

#include <utility>

namespace gable {

AdviceFacts::Part AdviceFacts::part(const std::function<bool(const PlotRow&)>& fits,
                                    const std::function<Maybe(const PlotRow&)>& least) const {
  Part sum;
  for (const PlotRow& row : kernels) {
    if (!row.sum.time_total_ns || !fits(row)) continue;
    ++sum.rows;
    sum.time_ns += *row.sum.time_total_ns;
    sum.launches += row.sum.launches.value_or(0);
    if (!least) continue;
    const Maybe left = least(row);
    if (left && *left < *row.sum.time_total_ns) sum.saving_ns += *row.sum.time_total_ns - *left;
  }
  return sum;
}

AdviceFacts advice_facts(const Report& report) {
  AdviceFacts facts{&report, Roofline(report.ceilings, report.step.launch_latency_ns), {}, 0, 0,
                    {}};
  for (PlotRow& row : plot_kernels(report)) {
    if (row.counts_again) continue;
    facts.kernels_ns += row.sum.time_total_ns.value_or(0);
    facts.kernels.push_back(std::move(row));
  }
  facts.unit = report.run.unit;
  facts.unit_ns = report.step.wall_mean_ns && facts.unit == "step" ? *report.step.wall_mean_ns
                                                                   : facts.kernels_ns;
  return facts;
}

}  // namespace gable

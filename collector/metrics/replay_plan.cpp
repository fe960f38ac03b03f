// SPDX-License-Identifier: Apache-2.0
#include "collector/metrics/replay_plan.h"

#include <algorithm>
#include <utility>

namespace gable {

MetricPlan replay_plan(ChipMetrics& chip, MetricPlan plan) {
  if (plan.passes.empty()) return plan;
  PassPlan whole;
  whole.phase = {PhaseKind::hw, 0};
  whole.replayed = true;
  for (auto& pass : plan.passes)
    for (auto& metric : pass.metrics)
      if (std::find(whole.metrics.begin(), whole.metrics.end(), metric) == whole.metrics.end())
        whole.metrics.push_back(std::move(metric));
  plan.passes.clear();
  if (chip.configure(whole.metrics, whole.config_image)) {
    plan.passes.push_back(std::move(whole));
  } else {
    plan.error = "CUPTI cannot configure all metrics together for " + chip.chip() +
                 ", so --replay kernel is not possible.";
  }
  return plan;
}

}  // namespace gable

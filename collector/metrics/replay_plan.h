// SPDX-License-Identifier: Apache-2.0
// The plan where CUPTI replays kernels: everything that is to be counted is one configuration of
// several passes.
#pragma once

#include "collector/metrics/chip_metrics.h"
#include "collector/metrics/plan.h"

namespace gable {

// `plan`: one of single passes. If CUPTI cannot configure them together, the error says so.
[[nodiscard]] MetricPlan replay_plan(ChipMetrics& chip, MetricPlan plan);

}  // namespace gable

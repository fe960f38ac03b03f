// SPDX-License-Identifier: Apache-2.0
// Tables and JSON of `gable plan`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/plan/plan.h"

namespace gable {

struct PlanView {
  const Plan* plan = nullptr;
  PlanOptions options;
  std::vector<const GpuSpec*> gpus;
  std::vector<const PlanRun*> runs;  // that are shown, by batch; at least one
};

// The layers of the last run, with the largest time on the first GPU first, and a row for the whole
// model above them.
[[nodiscard]] std::string plan_layers(const PlanView& view, std::size_t top, std::size_t columns,
                                      bool colours);
// A row for each GPU and batch.
[[nodiscard]] std::string plan_rows(const PlanView& view, std::size_t columns, bool colours);
// The line above the tables, and the sentences below them.
[[nodiscard]] std::string plan_title(const PlanView& view);
[[nodiscard]] std::vector<std::string> plan_remarks(const PlanView& view);

// The document as it was read, with what was computed of it under "predictions".
[[nodiscard]] std::string plan_json(const PlanView& view, std::string_view document);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Table and JSON of a plan held against a run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/plan/plan_against_run.h"

namespace gable {

enum class AgainstOrder { over, time, name };  // most time beyond the plan first, longest first

struct AgainstOptions {
  AgainstOrder order = AgainstOrder::over;
  std::size_t rows = 20;
  std::size_t columns = 100;
  bool colours = false;
};

// The line above the table, the table, and the sentences below it.
[[nodiscard]] std::string against_title(const PlanAgainstRun& both);
[[nodiscard]] std::string against_table(const PlanAgainstRun& both, const AgainstOptions& options);
[[nodiscard]] std::vector<std::string> against_remarks(const PlanAgainstRun& both);
[[nodiscard]] std::string against_json(const PlanAgainstRun& both);

}  // namespace gable

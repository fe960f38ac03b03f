// SPDX-License-Identifier: Apache-2.0
// What holds a GPU's memory in a step: a chart over the step's operators, and a table of what was
// held at its highest point.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

struct MemoryTable {
  std::size_t columns = 100, rows = 10;
  bool colours = false, each = false;  // each: equal layers have rows of their own
};

// "gradients of activations"
[[nodiscard]] std::string shown_purpose(HeldFor held_for);

// What layers hold, equal ones together.
struct HeldRow {
  HeldFor held_for = HeldFor::activations;
  std::string layers;  // as shown_path(), or name_of_paths()
  double bytes = 0, tensors = 0;
};
// Largest first.
[[nodiscard]] std::vector<HeldRow> held_rows(const MemoryOfStep& memory, bool each);

// Of the peak, the bytes held for each purpose, what no tensor explains included; largest first.
[[nodiscard]] std::vector<std::pair<std::string, double>> held_purposes(const MemoryOfStep& memory);

// Of each report that has it. Empty if none does.
[[nodiscard]] std::string render_memory(const std::vector<Report>& reports,
                                        const std::vector<std::string>& files,
                                        const MemoryTable& options);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What follows from the operators' formulas and the measured times of layers.
#pragma once

#include <vector>

#include "analysis/report/report.h"
#include "analysis/roofline/roofline.h"

namespace gable {

// Outside of modules operators are not followed, so that sums there would be of a part.
[[nodiscard]] inline bool is_of_model(const LayerRow& row) {
  return row.direction != Direction::none;
}

// `flops_over_forward` of backward layers.
void fill_ratios_to_forward(std::vector<LayerRow>& rows);

// Fills what `model` has beside the formulas' own sums: intensity, rates, roof, saving, and the
// ratios of what was counted. `rows`: of a report, LayerRow::parent is the place in the list.
// `has_own`: by row; whether operators are the layer's own. A layer that has kernels and none was
// not understood: its time counts, its work is unknown.
// `timed`: the times are of steps like those that were described; else they say nothing.
void fill_formula_roofs(const Roofline& roofline, const std::vector<bool>& has_own, bool timed,
                        std::vector<LayerRow>& rows);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What follows from the operators' formulas and the measured times of layers.
#pragma once

#include <vector>

#include "analysis/report/report.h"
#include "analysis/roofline/roofline.h"

namespace gable {

// Whether a row belongs to the model. Outside of modules operators are not followed, so sums there
// would be incomplete.
[[nodiscard]] inline bool is_of_model(const LayerRow& row) {
  return row.direction != Direction::none;
}

// Fills `flops_over_forward` of backward layers.
void fill_ratios_to_forward(std::vector<LayerRow>& rows);

// Fills the fields of `model` other than the formulas' sums: intensity, rates, roof, saving, and
// ratios to what was counted. `rows`: a report's layers; LayerRow::parent is an index in the list.
// `has_own`: by row; whether operators are the layer's own. A layer with kernels but no operators
// was not understood: its time counts, its work is unknown. `timed`: the times are from steps like
// the described ones; otherwise they are ignored.
void fill_formula_roofs(const Roofline& roofline, const std::vector<bool>& has_own, bool timed,
                        std::vector<LayerRow>& rows);

}  // namespace gable

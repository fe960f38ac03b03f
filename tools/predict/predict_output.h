// SPDX-License-Identifier: Apache-2.0
// Tables and CSV of `gable predict`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/predict/predict.h"
#include "tools/show/columns.h"

namespace gable {

struct PredictedRow {
  const GpuSpec* gpu = nullptr;
  Prediction prediction;
  Maybe ridge;                // FLOP/byte
  std::uint64_t changes = 0;  // the batch where the bottleneck changes; 0: none
  bool has_batches = true;    // false: FLOP and bytes were given
};

[[nodiscard]] std::vector<Column> predicted_columns(const std::vector<PredictedRow>& rows,
                                                    const std::string& sample);
// All digits; what is unknown is an empty cell.
[[nodiscard]] std::string predicted_csv(const std::vector<PredictedRow>& rows,
                                        const std::string& what, const PredictOptions& options);

// A report's layers there: one report for each GPU, of the same layers.
[[nodiscard]] std::string predicted_layers(const Report& here, const std::vector<Report>& there,
                                           std::size_t rows, std::size_t columns, bool colours);
// What stands below it: of how much there is a prediction, and what it is made of.
[[nodiscard]] std::vector<std::string> predicted_remarks(const Report& here,
                                                         const std::vector<Report>& there);
[[nodiscard]] std::string predicted_layers_csv(const Report& here,
                                               const std::vector<Report>& there);

}  // namespace gable

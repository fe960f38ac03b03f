// SPDX-License-Identifier: Apache-2.0
// What a report shows in a chart: a row for what each layer does itself, or for each kernel. The
// page, the SVG, CSV and Markdown are all made of these rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "tools/plot/row_query.h"
#include "tools/plot/time_roofline.h"

namespace gable {

struct PlotRow {
  const LayerRow* layer = nullptr;    // of the report; null where it has no such row
  const KernelRow* kernel = nullptr;  // of the report; null in rows of layers
  std::string name;                   // the layer's shown path, or the kernel's name
  Direction direction = Direction::none;
  LayerRow sum;                    // per unit of the report
  bool counts_again = false;       // its time is that of other rows
  bool analytic = false;           // work by formula, not counted
  std::string precision;           // as precision_of
  Maybe share;                     // of the time of all rows
  std::optional<TimePoint> times;  // under the compute roofs and DRAM's
  Maybe box_ns;                    // a side of its overhead box
};

// The compute ceiling that most of these FLOPs are under: "fp32", "tf32_tensor" …; empty without a
// FLOP.
[[nodiscard]] std::string precision_of(const Flops& flops);

[[nodiscard]] std::vector<PlotRow> plot_layers(const Report& report);
[[nodiscard]] std::vector<PlotRow> plot_kernels(const Report& report);
// Those that the query asks for, in its order.
[[nodiscard]] std::vector<PlotRow> plot_rows(const Report& report, const RowQuery& query);

}  // namespace gable

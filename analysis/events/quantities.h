// SPDX-License-Identifier: Apache-2.0
// What each hardware metric counts: the one table from metric names to the quantities of a
// roofline. Weights and their sources are in quantities.cpp. Formulas: docs/report.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace gable {

enum class Quantity : std::uint8_t {
  flops_fp64,
  flops_fp32,
  flops_fp16,
  flops_tensor,  // floating-point operations on tensor cores; `type` is the input type
  ops_tensor,    // integer operations on tensor cores; `type` is the input type
  bytes_dram_read,
  bytes_dram_write,
  bytes_dram,  // reads and writes together, if not counted apart
  bytes_l2,
  bytes_l1,
  l1_escapes,  // instructions whose traffic bytes_l1 misses: any makes bytes_l1 unknown
  duration_ns,
  ctas,  // thread blocks launched: must equal the grid, the checksum of joins
  sm_cycles,
  tensor_instructions,
  integer_tensor_instructions,
};

struct MetricRole {
  std::string_view metric;  // full name with its roll-up, "dram__sectors_read.sum"
  Quantity quantity;
  std::string_view type;    // "bf16", "int8" … for tensor quantities, else empty
  double weight;            // quantity = sum of weight x value over the metrics collected for it
  std::string_view source;  // where the weight comes from
  bool coarse = false;      // counts more than the quantity: used only if nothing better is known
};

// Every metric that has a role, parents before their children. A parent and its children are never
// collected together (the planner takes one or the other), and must never be added.
[[nodiscard]] const std::vector<MetricRole>& metric_roles();

// Whether the metrics of a quantity are alternatives, of which one counts; otherwise they are
// added.
[[nodiscard]] bool is_one_of(Quantity quantity);

// Whether a metric is a ratio, a percentage, a rate or a peak per cycle by its roll-up: values of
// several launches have a mean and no sum.
[[nodiscard]] bool is_ratio(std::string_view metric);

// The role of a metric, or nullptr. Also knows names that occur only in other tools' files.
[[nodiscard]] const MetricRole* role_of(std::string_view metric);

}  // namespace gable

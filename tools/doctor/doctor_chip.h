// SPDX-License-Identifier: Apache-2.0
// What `gable doctor --chip` says about a chip's plan of passes.
#pragma once

#include <string>
#include <vector>

#include "collector/metrics/plan.h"

namespace gable {

// What a metric is collected for: "DRAM bytes read", "bf16 tensor work"; for metrics beyond the
// roofline the set's name for it, or "asked for".
[[nodiscard]] std::string counted_by(const std::string& metric);

// The plan as a table, and sentences about what the chip does not give.
void print_plan(const MetricPlan& plan);

// Prints text broken between words at 100 columns; a path stays whole so that it can be copied.
void print_wrapped(const std::string& first, std::size_t indent, const std::string& text);

[[nodiscard]] std::string joined(const std::vector<std::string>& words);

// One or two products with these chips, by the names users know: "A100, A30".
[[nodiscard]] std::string products_of(const std::vector<std::string>& chips);

// Whether CUPTI's range profiler takes no counters on a chip that it plans for.
[[nodiscard]] bool is_too_old(const std::string& chip);

}  // namespace gable

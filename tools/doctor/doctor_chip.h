// SPDX-License-Identifier: Apache-2.0
// What `gable doctor --chip` says about a chip's plan of passes.
#pragma once

#include <string>
#include <vector>

#include "collector/metrics/plan.h"

namespace gable {

// What a metric is collected for: "DRAM bytes read", "bf16 tensor work"; of metrics beyond the
// roofline what the set calls them, or "asked for".
[[nodiscard]] std::string counted_by(const std::string& metric);

// The plan as a table, and sentences about what the chip does not give.
void print_plan(const MetricPlan& plan);

// Broken between words at 100 columns; a path stays whole however long it is, so that it can be
// copied.
void print_wrapped(const std::string& first, std::size_t indent, const std::string& text);

[[nodiscard]] std::string joined(const std::vector<std::string>& words);

// "A100, A30": a product or two of these chips, for who knows a GPU by that name.
[[nodiscard]] std::string products_of(const std::vector<std::string>& chips);

// Whether CUPTI's range profiler takes no counters on a chip that it plans for.
[[nodiscard]] bool is_too_old(const std::string& chip);

}  // namespace gable

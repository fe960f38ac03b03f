// SPDX-License-Identifier: Apache-2.0
// Which rows of a report are shown, and in which order: the same for the table, CSV, Markdown and
// SVG.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/base/pattern.h"
#include "analysis/report/report.h"

namespace gable {

enum class SortBy { saving, time, fraction, flops, bytes, name };

struct RowQuery {
  bool kernels = false;         // rows are kernels, not layers
  std::optional<int> depth;     // table only: layers at this depth include all below them
  bool each = false;            // table only: equal layers have rows of their own
  std::vector<Pattern> layers;  // only rows within a matching layer; empty: all
  SortBy sort = SortBy::saving;
  MemoryLevel level = MemoryLevel::dram;  // level for intensity and bandwidth
};

// Whether the layer or one that it is in matches: by its shown path, its name, or as PyTorch names
// it.
[[nodiscard]] bool layer_matches(const std::vector<Pattern>& patterns, const LayerRow& layer);

// Bytes, intensity and byte/s at a level; empty where a part is unknown.
struct AtLevel {
  Maybe bytes, intensity, bytes_per_s;
};
[[nodiscard]] AtLevel at_level(const LayerRow& row, MemoryLevel level);

// How much shorter a step would be with the row at its roof. If that was not computed, it is at
// most the saving of its kernels, and at most their time on the critical path.
[[nodiscard]] std::optional<StepSaving> step_saving_of(const LayerRow& row);
// The value by which rows are compared: the middle of that, else the saving of kernels' time.
[[nodiscard]] Maybe saving_of(const LayerRow& row);
// "1.2 ms", "0-900 us", "-".
[[nodiscard]] std::string saving_text(const std::optional<StepSaving>& saving);

// Whether `a` stands before `b`: larger values first (of fractions the smaller), names by alphabet;
// what is unknown last.
[[nodiscard]] bool stands_before(SortBy sort, const LayerRow& a, const std::string& name_a,
                                 const LayerRow& b, const std::string& name_b);

}  // namespace gable

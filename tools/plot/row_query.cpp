// SPDX-License-Identifier: Apache-2.0
#include "tools/plot/row_query.h"

#include <algorithm>

#include "analysis/base/display.h"
#include "analysis/base/units.h"
#include "analysis/events/layer_tree.h"
#include "analysis/roofline/roofline.h"

namespace gable {
namespace {

bool any_matches(const std::vector<Pattern>& patterns, const std::string& text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const Pattern& pattern) { return pattern.matches(text); });
}

Maybe value_of(SortBy sort, const LayerRow& row) {
  switch (sort) {
    case SortBy::saving:
      return saving_of(row);
    case SortBy::time:
      return row.time_total_ns;
    case SortBy::fraction:
      return row.roof.fraction ? Maybe(-*row.roof.fraction) : std::nullopt;
    case SortBy::flops:
      return row.flops.total;
    case SortBy::bytes:
      return row.bytes.dram;
    case SortBy::name:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool layer_matches(const std::vector<Pattern>& patterns, const LayerRow& layer) {
  if (patterns.empty()) return true;
  std::vector<std::string> path;
  for (const std::string& name : layer.path) {
    path.push_back(name);
    if (any_matches(patterns, shown_path(path)) || any_matches(patterns, name)) return true;
  }
  for (std::size_t dot = layer.dotted.find('.');; dot = layer.dotted.find('.', dot + 1)) {
    if (!layer.dotted.empty() && any_matches(patterns, layer.dotted.substr(0, dot))) return true;
    if (dot == std::string::npos) return false;
  }
}

AtLevel at_level(const LayerRow& row, MemoryLevel level) {
  if (level == MemoryLevel::dram) return {row.bytes.dram, row.intensity.dram, row.bytes_per_s};
  const bool l2 = level == MemoryLevel::l2;
  AtLevel at{l2 ? row.bytes.l2 : row.bytes.l1, l2 ? row.intensity.l2 : row.intensity.l1,
             std::nullopt};
  // A rate needs both parts of nearly all of the row; intensities say whether the bytes are.
  const bool whole = at.intensity && row.coverage.time.value_or(0) >= kFullCoverage;
  if (whole && at.bytes && row.time_total_ns && *row.time_total_ns > 0)
    at.bytes_per_s = *at.bytes / *row.time_total_ns * kNsPerSecond;
  return at;
}

std::optional<StepSaving> step_saving_of(const LayerRow& row) {
  if (row.step_saving || !row.saving_ns) return row.step_saving;
  return StepSaving{0, std::min(row.path_ns.value_or(*row.saving_ns), *row.saving_ns)};
}

Maybe saving_of(const LayerRow& row) {
  if (!row.step_saving && !row.path_ns) return row.saving_ns;
  const auto saving = step_saving_of(row);
  return saving ? Maybe((saving->low_ns + saving->high_ns) / 2) : std::nullopt;
}

std::string saving_text(const std::optional<StepSaving>& saving) {
  if (!saving) return duration(std::nullopt);
  const std::string low = duration(saving->low_ns), high = duration(saving->high_ns);
  if (low == high) return high;
  // "0-900 us", and "900 us-1.2 ms" where the units differ.
  const std::size_t unit = low.rfind(' ');
  const bool same = unit != std::string::npos && high.ends_with(low.substr(unit));
  return (same || saving->low_ns == 0 ? low.substr(0, unit) : low) + "-" + high;
}

bool stands_before(SortBy sort, const LayerRow& a, const std::string& name_a, const LayerRow& b,
                   const std::string& name_b) {
  if (sort == SortBy::name) return name_a < name_b;
  const Maybe left = value_of(sort, a), right = value_of(sort, b);
  if (left.has_value() != right.has_value()) return left.has_value();
  if (left && *left != *right) return *left > *right;
  return a.time_total_ns.value_or(0) > b.time_total_ns.value_or(0);
}

}  // namespace gable

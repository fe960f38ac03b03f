// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/partial_sum.h"

#include <algorithm>

#include "analysis/base/display.h"

namespace gable {

Maybe whole_sum(const Maybe& sum, const Maybe& coverage) {
  return coverage && !covers(coverage) ? std::nullopt : sum;
}

double coverage_of(const Report& report, Maybe Coverage::*part) {
  double least = 1;
  for (const LayerRow& layer : report.layers) {
    if (layer.depth == 0) least = std::min(least, (layer.coverage.*part).value_or(0));
  }
  return least;
}

std::string time_of_shares(const std::vector<Report>& reports) {
  const bool partial = std::any_of(reports.begin(), reports.end(), [](const Report& report) {
    return coverage_of(report, &Coverage::time) < kFullCoverage;
  });
  return partial ? "known time" : "time";
}

Maybe time_of_roots(const Report& report) {
  Maybe sum;
  for (const LayerRow& layer : report.layers) {
    if (layer.depth > 0) continue;
    const Maybe time = whole_sum(layer.time_total_ns, layer.coverage.time);
    if (!time) return std::nullopt;
    sum = sum.value_or(0) + *time;
  }
  return sum;
}

void PartialSum::add(const Maybe& part, double coverage) {
  if (part) value = value.value_or(0) + *part;
  partial = partial || !part || coverage < kFullCoverage;
}

std::string PartialSum::text(const char* unit) const {
  return (value && partial ? "at least " : "") + with_prefix(value, unit);
}

std::string PartialSum::time_text() const {
  return (value && partial ? "at least " : "") + duration(value);
}

}  // namespace gable

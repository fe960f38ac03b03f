// SPDX-License-Identifier: Apache-2.0
// A number of several reports as one: known where every report knows it. `get(report)` is a Maybe.
#pragma once

#include <optional>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

template <typename Get>
Maybe sum_of(const std::vector<Report>& reports, Get get) {
  double sum = 0;
  for (const Report& report : reports) {
    const Maybe part = get(report);
    if (!part) return std::nullopt;
    sum += *part;
  }
  return sum;
}

template <typename Get>
Maybe mean_of(const std::vector<Report>& reports, Get get) {
  return quotient(sum_of(reports, get), static_cast<double>(reports.size()));
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Sums with possibly unknown parts.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "analysis/roofline/roofline.h"

namespace gable {

// Whether the known part of a layer covers nearly all of it.
[[nodiscard]] inline bool covers(const Maybe& coverage) {
  return coverage.value_or(0) >= kFullCoverage;
}

// The sum, or empty if its coverage says that a part is missing; an unknown coverage does not.
[[nodiscard]] Maybe whole_sum(const Maybe& sum, const Maybe& coverage);

// The least coverage among the roots of a report's devices.
[[nodiscard]] double coverage_of(const Report& report, Maybe Coverage::*part);

// What shares of time refer to: "time", or "known time" if some launches' times are unknown.
[[nodiscard]] std::string time_of_shares(const std::vector<Report>& reports);

// Total time of the roots of all devices; empty if one is unknown.
[[nodiscard]] Maybe time_of_roots(const Report& report);

// A sum over reports; `partial` if a part is unknown.
struct PartialSum {
  Maybe value;
  bool partial = false;
  void add(const Maybe& part, double coverage);
  // The sum as "at least 3.00 GFLOP" or "unknown".
  [[nodiscard]] std::string text(const char* unit) const;
  // The same for a time in ns: "at least 812 us" or "-".
  [[nodiscard]] std::string time_text() const;
};

}  // namespace gable

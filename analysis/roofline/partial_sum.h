// SPDX-License-Identifier: Apache-2.0
// Sums of which a part may be unknown.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "analysis/roofline/roofline.h"

namespace gable {

// Whether what is known of a layer speaks of all of it.
[[nodiscard]] inline bool covers(const Maybe& coverage) {
  return coverage.value_or(0) >= kFullCoverage;
}

// The sum, empty where its coverage says that a part is missing. Where nothing says so, it stands.
[[nodiscard]] Maybe whole_sum(const Maybe& sum, const Maybe& coverage);

// The least coverage among the roots of a report's devices.
[[nodiscard]] double coverage_of(const Report& report, Maybe Coverage::*part);

// "time", or "known time" where some launches' times are unknown: what a share in it is of.
[[nodiscard]] std::string time_of_shares(const std::vector<Report>& reports);

// Time of the roots of all devices; empty where it is unknown of one.
[[nodiscard]] Maybe time_of_roots(const Report& report);

// Sums over reports; `partial` when a part of what is summed is unknown.
struct PartialSum {
  Maybe value;
  bool partial = false;
  void add(const Maybe& part, double coverage);
  // "at least 3.00 GFLOP"; "unknown".
  [[nodiscard]] std::string text(const char* unit) const;
  // The same of ns: "at least 812 us"; "-".
  [[nodiscard]] std::string time_text() const;
};

}  // namespace gable

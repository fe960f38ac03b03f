// SPDX-License-Identifier: Apache-2.0
// A number on both sides, each of which may have several runs.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/maybe.h"

namespace gable {

struct Compared {
  Maybe a, b;
  // b / a - 1; empty if a part is unknown or `a` is 0.
  [[nodiscard]] Maybe change() const;
};

// One number over the runs of a side, except runs that do not know it.
class RunValues {
 public:
  void add(const Maybe& value) {
    if (value) values_.push_back(*value);
  }
  [[nodiscard]] Maybe mean() const;
  // The largest minus the smallest; empty if fewer than two runs know it.
  [[nodiscard]] Maybe range() const;

 private:
  std::vector<double> values_;
};

// A number of launches: "100", or "4.25" if windows differ.
[[nodiscard]] std::string launches_text(double launches);

// The larger of two ranges: a smaller difference of means also occurs between runs of one side.
[[nodiscard]] Maybe larger(const Maybe& a, const Maybe& b);

}  // namespace gable

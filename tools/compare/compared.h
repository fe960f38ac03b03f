// SPDX-License-Identifier: Apache-2.0
// A number of both sides, each of which may have several runs.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/maybe.h"

namespace gable {

struct Compared {
  Maybe a, b;
  // b / a - 1; empty where a part is unknown or `a` is 0.
  [[nodiscard]] Maybe change() const;
};

// One number in each run of a side; runs that do not know it are left out.
class RunValues {
 public:
  void add(const Maybe& value) {
    if (value) values_.push_back(*value);
  }
  [[nodiscard]] Maybe mean() const;
  // The largest less the smallest; empty where fewer than two runs know it.
  [[nodiscard]] Maybe range() const;

 private:
  std::vector<double> values_;
};

// "100", or "4.25" where windows differ.
[[nodiscard]] std::string launches_text(double launches);

// The larger of both: a difference of means within it is one that runs of one side have too.
[[nodiscard]] Maybe larger(const Maybe& a, const Maybe& b);

}  // namespace gable

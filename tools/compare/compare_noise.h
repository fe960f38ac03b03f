// SPDX-License-Identifier: Apache-2.0
// How far times of a report may be off by chance. Internal to this folder.
#pragma once

#include <cstdint>
#include <map>

#include "analysis/report/report.h"

namespace gable {

// Standard error of the kernel's total time per unit; empty if it was timed less than twice.
[[nodiscard]] Maybe standard_error_ns(const KernelRow& kernel);

// 2 sqrt(a^2 + b^2); empty if a part is unknown.
[[nodiscard]] Maybe noise_of(const Maybe& a, const Maybe& b);

// Standard errors of layers: sums over their kernels.
class LayerErrors {
 public:
  explicit LayerErrors(const Report& report);
  [[nodiscard]] Maybe own(std::int64_t layer) const { return find(own_, layer); }
  [[nodiscard]] Maybe all(std::int64_t layer) const { return find(all_, layer); }

 private:
  struct Sum {
    double ns = 0;
    bool known = true;
    void add(const Maybe& error);
  };
  static Maybe find(const std::map<std::int64_t, Sum>& sums, std::int64_t layer);
  std::map<std::int64_t, Sum> own_, all_;
};

}  // namespace gable

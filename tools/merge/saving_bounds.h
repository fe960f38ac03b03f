// SPDX-License-Identifier: Apache-2.0
// How much shorter the step of several ranks would be: what each would save alone gives only
// bounds, because the slowest of them decides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "analysis/report/report.h"

namespace gable {

class SavingBounds {
 public:
  void add(const std::optional<StepSaving>& saving) {
    known_ = known_ && saving.has_value();
    if (!saving) return;
    low_ns_ = rows_++ == 0 ? saving->low_ns : std::min(low_ns_, saving->low_ns);
    high_ns_ = std::max(high_ns_, saving->high_ns);
  }
  // The smallest and the largest saving; the smallest is 0 if only some of the GPUs have it. Known
  // if all know it.
  [[nodiscard]] std::optional<StepSaving> of(double gpus) const {
    if (!known_ || rows_ == 0) return std::nullopt;
    return StepSaving{static_cast<double>(rows_) < gpus ? 0 : low_ns_, high_ns_};
  }

 private:
  double low_ns_ = 0, high_ns_ = 0;
  std::size_t rows_ = 0;
  bool known_ = true;
};

}  // namespace gable

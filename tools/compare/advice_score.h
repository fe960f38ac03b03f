// SPDX-License-Identifier: Apache-2.0
// What became of the advice of the first report in the second.
#pragma once

#include <string>
#include <vector>

#include "tools/compare/compare.h"

namespace gable {

// A layer follows when it got shorter by a quarter of its own saving or more, beyond the noise; an
// item was taken when one of its layers followed and all of them together got shorter by a tenth of
// the item's saving.
inline constexpr double kFollowed = 0.25, kTaken = 0.1;

struct AdviceScore {
  std::string id;                 // of Advice
  double predicted_ns = 0;        // at most
  double measured_ns = 0;         // less time in its layers; of "idle" and "input" less idle time
  std::vector<std::string> left;  // layers that did not follow, largest saving first
  // "tensor cores: predicted up to 6.10 ms, measured 5.40 ms; 2 layers did not follow: a, b."
  [[nodiscard]] std::string line() const;
};

// Of the items that were taken. None where the comparison has obstacles or is of other work.
[[nodiscard]] std::vector<AdviceScore> score_advice(const Report& a, const Comparison& comparison);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// How the first report's advice fared in the second report.
#pragma once

#include <string>
#include <vector>

#include "tools/compare/compare.h"

namespace gable {

// A layer followed the advice if it got shorter by at least a quarter of its saving, beyond the
// noise; an item was taken if one of its layers followed and all of them together got shorter by a
// tenth of the item's saving.
inline constexpr double kFollowed = 0.25, kTaken = 0.1;

// What is counted as an item's outcome:
// - What a layer gained counts once: for the item, of those taken, that promised most in this
//   layer; of equal promises, for the larger item. Idle time that went away counts once, too. An
//   item to which less than a tenth of its promise is left so does not count as taken.
// - The outcomes of all items together are at most what the step gained. If layers gained more
//   (their kernels ran side by side, or something else got slower), all are cut in proportion.
struct AdviceScore {
  std::string id;           // of Advice
  double predicted_ns = 0;  // at most
  double measured_ns = 0;   // the outcome, at least 0
  // How much shorter its layers got, or idle time: with what counts for other items, uncut.
  double shorter_ns = 0;
  double shared_ns = 0;                // of shorter_ns, what counts for others
  std::vector<std::string> others;     // ids of these, in the order of the items
  bool cut = false;                    // to what the step gained
  std::vector<std::string> left = {};  // layers that did not follow, largest saving first
  // Whether the outcome is more than was promised.
  [[nodiscard]] bool exceeds() const { return measured_ns > predicted_ns; }
  // What else is to be said of the outcome: ", more than promised: ...", "; another 9.30 ms ..."
  [[nodiscard]] std::string remark() const;
  // "tensor cores: predicted up to 6.10 ms, measured 5.40 ms; 2 layers did not follow: a, b."
  [[nodiscard]] std::string line() const;
};

// The scores of the items taken; none if the comparison has obstacles or the work differs.
[[nodiscard]] std::vector<AdviceScore> score_advice(const Report& a, const Comparison& comparison);

}  // namespace gable

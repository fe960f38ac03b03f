// SPDX-License-Identifier: Apache-2.0
// The notes of several processes, each once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

struct FoldedNote {
  std::string note;
  std::vector<std::size_t> reports;  // the places of those that have it

  // The sentence, with how many of `all` processes have it, if not every one has.
  [[nodiscard]] std::string text(std::size_t all) const;
};

// In the order in which the reports have them.
[[nodiscard]] std::vector<FoldedNote> folded_notes(const std::vector<Report>& reports);

// Those that nobody has printed: a rank other than 0 only writes its notes into its report, as
// rank 0 mostly says the same.
[[nodiscard]] std::vector<FoldedNote> unprinted_notes(const std::vector<Report>& reports);

}  // namespace gable

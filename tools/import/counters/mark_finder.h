// SPDX-License-Identifier: Apache-2.0
// Finds out which decimal mark the numbers of a file use.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/import/counters/ncu_values.h"

namespace gable {

class MarkFinder {
 public:
  // Takes a number of the file, or the text in a number's place.
  void see(std::string_view text);
  // The mark; empty until some number shows it.
  [[nodiscard]] std::optional<DecimalMark> mark() const { return mark_; }
  // Whether a number was seen that reads differently with another mark, and none shows the mark.
  [[nodiscard]] bool is_in_doubt() const { return !mark_ && !first_doubt_.empty(); }
  // Decides after the last number; empty if the numbers can be read in two ways.
  [[nodiscard]] std::optional<DecimalMark> decide();
  // The first number that can be read in two ways.
  [[nodiscard]] const std::string& first_doubt() const { return first_doubt_; }

 private:
  std::optional<DecimalMark> mark_;
  std::string first_doubt_;
  bool points_ = false, commas_ = false;                   // seen in ambiguous numbers
  bool has_other_groups_ = false, has_no_groups_ = false;  // seen in other numbers
};

}  // namespace gable

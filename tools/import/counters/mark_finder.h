// SPDX-License-Identifier: Apache-2.0
// Which decimal mark the numbers of a file have, as long as it takes to find that out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/import/counters/ncu_values.h"

namespace gable {

class MarkFinder {
 public:
  // A number of the file, or what stands where one may be.
  void see(std::string_view text);
  // Empty until some number tells.
  [[nodiscard]] std::optional<DecimalMark> mark() const { return mark_; }
  // Some number was seen that reads differently with another mark, and none tells the mark.
  [[nodiscard]] bool is_in_doubt() const { return !mark_ && !first_doubt_.empty(); }
  // When no more numbers come. Empty: the numbers may be read in two ways.
  [[nodiscard]] std::optional<DecimalMark> decide();
  // The first number that can be read in two ways.
  [[nodiscard]] const std::string& first_doubt() const { return first_doubt_; }

 private:
  std::optional<DecimalMark> mark_;
  std::string first_doubt_;
  bool points_ = false, commas_ = false;                   // of numbers in doubt
  bool has_other_groups_ = false, has_no_groups_ = false;  // of other numbers
};

}  // namespace gable

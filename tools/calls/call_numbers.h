// SPDX-License-Identifier: Apache-2.0
// The numbers that CUPTI gives the calls of one process, in their order: 32 bits that begin anew,
// or more. They tell work whose call was before the recording from work whose call got lost.
#pragma once

#include <cstdint>

namespace gable {

class CallNumbers {
 public:
  // A call of the recording; 0 is none.
  void see(std::uint64_t number) {
    if (number == 0) return;
    if (!any_ || distance(number) < 0) lowest_ = number;
    any_ = true;
  }
  [[nodiscard]] bool any() const { return any_; }
  // Threads take their numbers a little before their calls begin, so it is the lowest number that
  // counts and not the earliest call's. A recording has all later launches.
  [[nodiscard]] bool before(std::uint64_t number) const {
    return any_ && number != 0 && distance(number) < 0;
  }

 private:
  [[nodiscard]] std::int64_t distance(std::uint64_t number) const {
    const std::uint64_t difference = number - lowest_;
    return number <= UINT32_MAX && lowest_ <= UINT32_MAX
               ? static_cast<std::int32_t>(static_cast<std::uint32_t>(difference))
               : static_cast<std::int64_t>(difference);
  }

  std::uint64_t lowest_ = 0;
  bool any_ = false;
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The numbers that CUPTI gives the calls of one process, in order, with 32 bits that wrap or more.
// They distinguish work called before the recording from work whose call got lost.
#pragma once

#include <cstdint>

namespace gable {

class CallNumbers {
 public:
  // Takes the number of a recorded call; 0 is none.
  void see(std::uint64_t number) {
    if (number == 0) return;
    if (!any_ || distance(number) < 0) lowest_ = number;
    any_ = true;
  }
  [[nodiscard]] bool any() const { return any_; }
  // Whether the call was before the recording, which has all later launches. Threads take numbers
  // shortly before their calls begin, so the lowest number counts, not the earliest call's.
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

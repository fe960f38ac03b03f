// SPDX-License-Identifier: Apache-2.0
// The time on the clock of CUPTI's records.
#pragma once

#include <cstdint>

#include "collector/cupti/cupti_api.h"
#include "collector/process/host_clock.h"

namespace gable {

class RecordClock {
 public:
  explicit RecordClock(const CuptiApi& api) : api_(api) {}

  // Time in ns, 0 if unknown. Callable from any thread, takes no lock of Gable's; asks CUPTI now
  // and then.
  [[nodiscard]] std::uint64_t now() {
    if (const auto now = clock_.read(); now != 0) return now;
    return ask();
  }

 private:
  std::uint64_t ask();

  const CuptiApi& api_;
  HostClock clock_;
};

}  // namespace gable

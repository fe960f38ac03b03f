// SPDX-License-Identifier: Apache-2.0
// The clock of CUPTI's records in ns, without asking CUPTI each time. Every CUPTI seen so far
// answers with CLOCK_REALTIME. If its answer lies between two readings of that clock, it is trusted
// for kTrust and then asked again, since another tool may have given CUPTI another clock.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/process/clock.h"

namespace gable {

class HostClock {
 public:
  static constexpr std::uint64_t kTrust = 1'000'000'000;  // ns

  // What CUPTI answered, and the system's clock right before and after it.
  struct Answer {
    std::uint64_t before = 0, cupti = 0, after = 0;
  };

  // The time in ns; 0: CUPTI must be asked. Neither waits nor calls CUPTI.
  [[nodiscard]] std::uint64_t read() const { return read(system_ns()); }
  [[nodiscard]] std::uint64_t read(std::uint64_t now) const {
    const auto until = trusted_until_.load(std::memory_order_relaxed);
    return now < until && until - now <= kTrust ? now : 0;
  }
  void take(const Answer& answer) {
    const bool same = answer.before <= answer.cupti && answer.cupti <= answer.after;
    trusted_until_.store(same ? answer.after + kTrust : 0, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> trusted_until_{0};  // on the system's clock
};

}  // namespace gable

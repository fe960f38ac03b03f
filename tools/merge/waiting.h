// SPDX-License-Identifier: Apache-2.0
// Which ranks wait for which in collectives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// A process of a merged report; in a report of one process, one of its GPUs.
struct Waiter {
  std::string name;                                  // "rank 3 on node1", "GPU 0"
  double time_ns = 0, wait_ns = 0, transfer_ns = 0;  // in collectives, per unit
  double others_wait_ns = 0;                         // others' waiting for this process
  // "at least " if the parts are not known for all collectives.
  [[nodiscard]] const char* at_least() const;
};

// The processes whose waiting is known; empty if fewer than two.
[[nodiscard]] std::vector<Waiter> waiters(const Report& report);

// The process that the others wait for: it causes two thirds of all waiting, and a tenth of the
// others' time in collectives. Empty if they wait in turn.
[[nodiscard]] std::optional<Waiter> late_one(const std::vector<Waiter>& all);

// Means over `all`, which must not be empty.
[[nodiscard]] Waiter mean_waiter(const std::vector<Waiter>& all);

// "In collectives a process waits 1.24 ms of 2.00 ms a step for the others (62.0 %); the transfer
// takes 760 us. 86.1 % of the waiting is for rank 3." Empty where that is not known.
[[nodiscard]] std::string waiting_sentence(const Report& report);

}  // namespace gable

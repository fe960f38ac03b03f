// SPDX-License-Identifier: Apache-2.0
// Who waits for whom in collectives.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// A process of a merged report; in a report of one process, one of its GPUs.
struct Waiter {
  std::string name;                                  // "rank 3 on node1", "GPU 0"
  double time_ns = 0, wait_ns = 0, transfer_ns = 0;  // of collectives, per unit
  double others_wait_ns = 0;                         // for this one
  // "at least " where the parts are not known of all of them.
  [[nodiscard]] const char* at_least() const;
};

// Those whose waiting is known; none where it is known of fewer than two.
[[nodiscard]] std::vector<Waiter> waiters(const Report& report);

// The one for which the others wait: two thirds of all waiting are for it, and that is a tenth of
// the time that the others have in collectives. Empty: they wait in turn.
[[nodiscard]] std::optional<Waiter> late_one(const std::vector<Waiter>& all);

// Means over `all`. Not for none.
[[nodiscard]] Waiter mean_waiter(const std::vector<Waiter>& all);

// "In collectives a process waits 1.24 ms of 2.00 ms a step for the others (62.0 %); the transfer
// takes 760 us. 86.1 % of the waiting is for rank 3." Empty where that is not known.
[[nodiscard]] std::string waiting_sentence(const Report& report);

}  // namespace gable

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
  // "at least " where the parts are not known of all of them.
  [[nodiscard]] const char* at_least() const;
};

// Those whose waiting is known; none where it is known of fewer than two.
[[nodiscard]] std::vector<Waiter> waiters(const Report& report);

// The one for which the others wait: it waits less than half as long as they do on average, and
// what they wait longer is a tenth of their time in collectives. Empty: they wait in turn.
[[nodiscard]] std::optional<Waiter> late_one(const std::vector<Waiter>& all);

// Means over `all`. Not for none.
[[nodiscard]] Waiter mean_waiter(const std::vector<Waiter>& all);

// "In collectives a rank waits 1.24 ms of 2.00 ms a step for the others (62.0 %). They wait for
// rank 3, which waits 50.0 us." Empty where that is not known.
[[nodiscard]] std::string waiting_sentence(const Report& report);

}  // namespace gable

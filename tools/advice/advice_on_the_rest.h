// SPDX-License-Identifier: Apache-2.0
// Advice where neither roof holds the program: latency, small grids, overhead, idle time, copies,
// waits and communication. Internal to tools/advice.
#pragma once

#include <vector>

#include "tools/advice/advice.h"
#include "tools/advice/advice_facts.h"

namespace gable {

void advise_on_the_rest(const AdviceFacts& facts, std::vector<Advice>& advice);

// What copies take per unit of the report, ns; without steps those of the GPU with most of them.
[[nodiscard]] double time_of_copies(const AdviceFacts& facts);

}  // namespace gable

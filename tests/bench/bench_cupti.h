// SPDX-License-Identifier: Apache-2.0
// A CUPTI that does nothing, so that only our own code is measured: it keeps the callback and the
// buffer functions that Gable registers and lets the benchmark call them.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <vector>

namespace gable::bench {

// Starts the collection of this process (once): phase `time`, steps are ranges named "step…", no
// end to the queue.
void start_collection();

// What the driver would do at a launch: calls the subscriber at ENTER and EXIT.
CUpti_CallbackFunc subscriber();
void* subscriber_data();

// Gives back kernel records for the correlation ids [first, last), as CUPTI's own thread would.
void complete_records(std::uint32_t first, std::uint32_t last);

// The functions NVTX would call.
using PushA = int (*)(const char*);
using Pop = int (*)();
PushA nvtx_push();
Pop nvtx_pop();

}  // namespace gable::bench

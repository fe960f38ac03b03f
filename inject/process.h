// SPDX-License-Identifier: Apache-2.0
// How a process begins, ends and forks, as far as it concerns us.
#pragma once

#include <atomic>

namespace gable {

// Watches for fork. Idempotent.
void watch_process();

// True for the first caller in this process; a forked child counts anew.
bool first_in_process(std::atomic_flag& flag);

// Writes the report when the process ends: exit, quick_exit, and those of kEndingSignals that the
// program left alone, where `signals_too`; SIGUSR2 then opens a queue, too.
void watch_end(bool signals_too);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What a thread does that was interrupted by a signal which ends the program: it waits while the
// worker writes the report. It may have been interrupted within the allocator, the loader or the
// driver, with a lock that the worker needs. So it goes on for a moment now and then, unless that
// would end a system call early.
#pragma once

#include <signal.h>

namespace gable {

// In a handler for `number`, installed with SA_SIGINFO. True: the thread was sent this signal by
// stop_until_end(), to stop again.
[[nodiscard]] bool is_stopped_again(const siginfo_t& info);

// Whether the handler may return: not into a system call that the signal has ended, as the program
// would go on from there (a sleep would be over). `context`: the handler's third argument.
[[nodiscard]] bool may_go_on(const void* context);

// Waits for the end of the process. Returns, where `may_return`, when the worker is slow; then the
// thread is sent `number` again in a moment. Two seconds after the first such call in the process
// it ends the process by `number`; a report that is being written has longer.
void stop_until_end(int number, bool may_return);

}  // namespace gable

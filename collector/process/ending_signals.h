// SPDX-License-Identifier: Apache-2.0
// Signals that end a program which leaves them to the system.
#pragma once

#include <array>
#include <csignal>

namespace gable {

// Sent by people, batch systems and limits: the report is written first. Not those that say that
// the program is broken, as what it has in memory is worth nothing then; and not those that
// libraries look at before they take them for themselves (SIGPIPE and SIGXFSZ, SIGPROF and
// SIGVTALRM): one that finds a handler there does not, or calls it.
inline constexpr std::array kEndingSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                           SIGALRM, SIGUSR1, SIGXCPU};

// Ends the process as the signal does where nobody handles it. Safe in a signal handler.
void die_of(int number);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Signals that end a program which leaves them to the system.
#pragma once

#include <array>
#include <chrono>
#include <csignal>

namespace gable {

// Sent by people, batch systems and limits: the report is written first. Not those that say that
// the program is broken, as what it has in memory is worth nothing then; and not those that
// libraries look at before they take them for themselves (SIGPIPE and SIGXFSZ, SIGPROF and
// SIGVTALRM): one that finds a handler there does not, or calls it.
inline constexpr std::array kEndingSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                           SIGALRM, SIGUSR1, SIGXCPU};

// From a signal to the program's end, whatever hangs; and what a report that is being written to a
// disk may take beyond that. Together less than what batch systems and containers leave a program.
inline constexpr std::chrono::milliseconds kSignalPatience{2000}, kDiskPatience{6000};

// Ends the process as the signal does where nobody handles it. Safe in a signal handler.
void die_of(int number);

// The same once patience is over: a report that is being written is finished, if the disk lets it.
void end_at_once(int number);

}  // namespace gable

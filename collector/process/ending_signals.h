// SPDX-License-Identifier: Apache-2.0
// Signals that end a program which leaves them to the system.
#pragma once

#include <array>
#include <chrono>
#include <csignal>

namespace gable {

// Signals sent by people, batch systems and limits, on which the report is written first. Excluded
// are signals of a broken program, whose memory is unreliable, and those that libraries install
// handlers for unless they find one (SIGPIPE, SIGXFSZ, SIGPROF, SIGVTALRM).
inline constexpr std::array kEndingSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                           SIGALRM, SIGUSR1, SIGXCPU};

// Time from a signal to the program's end, whatever hangs, and extra time for a report being
// written to disk. Their sum is less than batch systems and containers grant a program.
inline constexpr std::chrono::milliseconds kSignalPatience{2000}, kDiskPatience{6000};

// Ends the process as an unhandled signal would. Safe in a signal handler.
void die_of(int number);

// The same after the time limit: lets a report being written finish, if the disk allows.
void end_at_once(int number);

}  // namespace gable

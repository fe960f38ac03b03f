// SPDX-License-Identifier: Apache-2.0
#include "collector/process/ending_signals.h"

#include <pthread.h>
#include <signal.h>

#include "analysis/base/unfinished_write.h"

namespace gable {

void die_of(int number) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  ::sigaction(number, &standard, nullptr);
  // The signal is blocked in its handler, and always on Gable's threads.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  ::raise(number);
}

void end_at_once(int number) {
  WriteUnderWay::await_all(kDiskPatience);
  UnfinishedWrite::settle_all();
  die_of(number);
}

}  // namespace gable

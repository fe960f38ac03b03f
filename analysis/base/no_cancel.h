// SPDX-License-Identifier: Apache-2.0
// A thread of the program may be cancelled (pthread_cancel) wherever it waits or writes. Within
// Gable that would unwind through functions that let nothing through, which ends the program, or
// leave a window half changed. What of ours may wait on a thread of the program does so under this:
// a request to end stays until the program's own next such point.
#pragma once

#include <pthread.h>

namespace gable {

class NoCancel {
 public:
  NoCancel() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancel() { pthread_setcancelstate(before_, nullptr); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace gable

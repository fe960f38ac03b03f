// SPDX-License-Identifier: Apache-2.0
// Threads of ours in somebody else's program.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <thread>

namespace gable {

// Runs `body` on a detached thread that has every signal blocked, so that the program's own threads
// get them. False: no thread can be had. One that runs out of memory ends, and the program does
// not: whoever waits for it gives up in time.
template <typename Body>
bool start_own_thread(const char* name, Body body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool ok = true;
  try {
    std::thread thread([body] {
      try {
        body();
      } catch (const std::exception&) {
        return;
      }
    });
    pthread_setname_np(thread.native_handle(), name);
    thread.detach();
  } catch (const std::exception&) {
    ok = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return ok;
}

}  // namespace gable

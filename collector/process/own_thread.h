// SPDX-License-Identifier: Apache-2.0
// Gable's own threads in the profiled program.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <exception>
#include <string_view>
#include <thread>
#include <utility>

namespace gable {

namespace detail {
void remember_own_name(const char* name);
}

// Whether a thread of that name is Gable's, or one that CUPTI started from it: a thread inherits
// its creator's name unless it takes another.
[[nodiscard]] bool is_own_thread_name(std::string_view name);

// Marks this thread as Gable's: callbacks on it are not the program's.
void be_own_thread();
// Sets how such a thread is marked, when the library is loaded and no such thread exists yet.
void mark_own_threads_with(void (*mark)());

// Runs `body` on a detached thread with every signal blocked, so that the program's own threads get
// them. Returns false if no thread could be started. `name`: a literal of at most 15 characters.
template <typename Body>
bool start_own_thread(const char* name, Body body) {
  detail::remember_own_name(name);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool ok = true;
  try {
    std::thread([name, body = std::move(body)]() mutable {
      pthread_setname_np(pthread_self(), name);
      // What a thread needs for its first exception is allocated here, not when memory is short:
      // glibc would end the program.
      (void)std::uncaught_exceptions();
      try {
        body();
      } catch (const std::exception&) {
        return;  // no memory: nobody waits for it without a bound
      }
    }).detach();
  } catch (const std::exception&) {
    ok = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return ok;
}

}  // namespace gable

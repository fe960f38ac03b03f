// SPDX-License-Identifier: Apache-2.0
#include "inject/process.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "collector/nvtx_entry.h"
#include "collector/range_calls.h"
#include "collector/runtime.h"
#include "collector/session.h"

namespace gable {
namespace {

constexpr int kSignalPatienceMs = 2000;

std::atomic<pid_t> g_owner{0};  // the process whose session this is; a forked child is another
std::atomic_flag* g_flag = nullptr;

bool is_owner() { return g_owner.load(std::memory_order_relaxed) == getpid(); }

Session* own_session() {
  return is_owner() ? runtime().session.load(std::memory_order_acquire) : nullptr;
}

void at_end() {
  if (auto* session = own_session()) session->finish();
}

void on_signal(int number) {
  // In a forked child the parent's worker does not exist: do what the program's default would have
  // done.
  if (auto* session = own_session()) {
    const int before = errno;
    session->signal(number);
    // Unwatched, the program would be gone by now: it must not go on from an interrupted call. The
    // worker ends the process meanwhile.
    for (int i = 0; i < kSignalPatienceMs; ++i) {
      const timespec millisecond{0, 1000000};
      nanosleep(&millisecond, nullptr);
    }
    errno = before;
  }
  Background::die_of(number);
}

void watch_signal(int number) {
  struct sigaction before {};
  if (sigaction(number, nullptr, &before) != 0) return;
  if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL)
    return;  // the program's own business
  struct sigaction ours {};
  ours.sa_handler = on_signal;
  sigemptyset(&ours.sa_mask);
  ours.sa_flags = SA_RESTART;
  sigaction(number, &ours, nullptr);
}

// SIGUSR2 asks for a further queue where the program has no use for it.
void on_demand(int number) {
  if (auto* session = own_session()) {
    session->ask_for_queue();
  } else {
    Background::die_of(number);  // a forked child: what the default does
  }
}

void watch_demand() {
  struct sigaction before {};
  if (sigaction(SIGUSR2, nullptr, &before) != 0) return;
  if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) {
    runtime().notes.record(
        "SIGUSR2 is the program's own, so it opens no queue; gable window does.");
    return;
  }
  struct sigaction ours {};
  ours.sa_handler = on_demand;
  sigemptyset(&ours.sa_mask);
  ours.sa_flags = SA_RESTART;
  sigaction(SIGUSR2, &ours, nullptr);
}

// Nothing of the parent's may be touched: its threads are gone, its locks may be taken for ever. A
// child that has no session of its parent's starts afresh when it loads CUDA; one that has is
// silent, as CUDA is dead in it anyway.
void in_child() {
  const bool had_session = g_owner.load(std::memory_order_relaxed) != 0;
  set_ranges_active(!had_session);
  restart_runtime_in_child();
  forget_strings_in_child();
  if (!had_session && g_flag != nullptr) g_flag->clear();
}

}  // namespace

void watch_process() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, in_child); });
}

bool first_in_process(std::atomic_flag& flag) {
  g_flag = &flag;
  return !flag.test_and_set();
}

void watch_end() {
  g_owner.store(getpid(), std::memory_order_relaxed);
  std::atexit(at_end);
  ::at_quick_exit(at_end);
  watch_signal(SIGINT);
  watch_signal(SIGTERM);
  watch_demand();
}

}  // namespace gable

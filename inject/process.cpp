// SPDX-License-Identifier: Apache-2.0
#include "inject/process.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "analysis/base/held_locks.h"
#include "collector/process/ending_signals.h"
#include "collector/runtime/nvtx_entry.h"
#include "collector/runtime/range_calls.h"
#include "collector/runtime/runtime.h"
#include "collector/session/session.h"
#include "inject/stopped_thread.h"

namespace gable {
namespace {

std::atomic<pid_t> g_owner{0};  // the process whose session this is; a forked child is another
std::atomic_flag* g_flag = nullptr;

bool is_owner() { return g_owner.load(std::memory_order_relaxed) == getpid(); }

Session* own_session() {
  return is_owner() ? runtime().session.load(std::memory_order_acquire) : nullptr;
}

// The signals handled here; the program's own handlers are left alone.
sigset_t g_watched{};

// One that comes while this thread writes the report would stop it in the midst of that: it waits
// until the report is written, and the worker, which looks for it meanwhile, waits a bounded time.
class SignalsHeld {
 public:
  explicit SignalsHeld(Session& session) : session_(session) {
    if (pthread_sigmask(SIG_BLOCK, &g_watched, &before_) != 0) return;
    held_ = true;
    sigset_t fresh = g_watched;
    for (const int number : kEndingSignals)
      if (sigismember(&before_, number) == 1) sigdelset(&fresh, number);
    session_.ends(fresh);
  }
  ~SignalsHeld() {
    if (held_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  Session& session_;
  sigset_t before_{};
  bool held_ = false;
};

void at_end() {
  auto* session = own_session();
  if (session == nullptr) return;
  const SignalsHeld held(*session);
  session->finish();
}

// The worker may need the lock that this thread was interrupted with.
void stop_without_locks(int number) { stop_until_end(number, true); }

void on_signal(int number, siginfo_t* info, void* context) {
  auto* session = own_session();
  // In a forked child the parent's worker does not exist: do what the program's default would have
  // done.
  if (session == nullptr) return die_of(number);
  if (!is_stopped_again(*info)) session->signal(number);
  if (waits_for_locks(number, stop_without_locks)) return;
  // Unwatched, the program would be gone by now: it must not go on from an interrupted call.
  stop_until_end(number, may_go_on(context));
}

void watch_signal(int number) {
  struct sigaction before {};
  if (sigaction(number, nullptr, &before) != 0) return;
  if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL)
    return;  // the program's own business
  struct sigaction ours {};
  ours.sa_sigaction = on_signal;
  sigemptyset(&ours.sa_mask);
  ours.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(number, &ours, nullptr);
  sigaddset(&g_watched, number);
}

// SIGUSR2 asks for a further queue where the program has no use for it.
void on_demand(int number) {
  if (auto* session = own_session()) {
    session->ask_for_queue();
  } else {
    die_of(number);  // a forked child: what the default does
  }
}

void watch_demand() {
  struct sigaction before {};
  if (sigaction(SIGUSR2, nullptr, &before) != 0) return;
  if ((before.sa_flags & SA_SIGINFO) != 0 || before.sa_handler != SIG_DFL) {
    runtime().notes.record(
        "The program handles SIGUSR2 itself, so that signal opens no queue; gable window does.");
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

void watch_end(bool signals_too) {
  g_owner.store(getpid(), std::memory_order_relaxed);
  std::atexit(at_end);
  ::at_quick_exit(at_end);
  sigemptyset(&g_watched);
  if (!signals_too) return;
  for (const int number : kEndingSignals) watch_signal(number);
  watch_demand();
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "inject/stopped_thread.h"

#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "collector/process/ending_signals.h"

namespace gable {
namespace {

// The worker needs some 20 ms where nothing holds it up.
constexpr long kFirstStopMs = 50, kStopMs = 20;
constexpr long kMomentNs = 1'000'000;

std::atomic<long> g_stopped_since{0};
std::atomic<int> g_again{0};  // its address marks our own signals

// By the clock: under load a sleep takes longer than was asked for.
long milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// glibc's own would start a thread for some kinds, and allocates before 2.34.
bool send_in_a_moment(int number) {
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = number;
  event.sigev_value.sival_ptr = &g_again;
  event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
  int timer = 0;  // the kernel's type; few are made, and the process ends
  if (::syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0) return false;
  itimerspec once{};
  once.it_value.tv_nsec = kMomentNs;
  return ::syscall(SYS_timer_settime, timer, 0, &once, nullptr) == 0;
}

}  // namespace

bool is_stopped_again(const siginfo_t& info) {
  return info.si_code == SI_TIMER && info.si_value.sival_ptr == &g_again;
}

bool may_go_on(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return registers.gregs[REG_RAX] != -EINTR;
#elif defined(__aarch64__)
  return static_cast<long long>(registers.regs[0]) != -EINTR;
#else
  (void)registers;
  return false;
#endif
}

void stop_until_end(int number, bool may_return) {
  const int saved = errno;
  const long now = milliseconds();
  long since = 0;
  const bool first = g_stopped_since.compare_exchange_strong(since, now);
  if (first) since = now;
  const long end = since + kSignalPatience.count();
  const long turn = now + (first ? kFirstStopMs : kStopMs);
  bool returns = may_return;
  for (long at = now; at < end; at = milliseconds()) {
    if (returns && at >= turn) {
      errno = saved;
      if (send_in_a_moment(number)) return;
      returns = false;
    }
    const timespec millisecond{0, 1000000};
    nanosleep(&millisecond, nullptr);
  }
  end_at_once(number);
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Stands before libc: the clock of the day jumps by an hour, forth and back, at every look. The
// clocks that count from a start do not.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<unsigned> g_looks{0};

long jump() {
  constexpr long kHour = 3600;
  const auto look = g_looks.fetch_add(1, std::memory_order_relaxed) % 3;
  return (static_cast<long>(look) - 1) * kHour;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto answer = syscall(SYS_clock_gettime, clock, now);
  const bool of_day = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
  if (answer == 0 && of_day) now->tv_sec += jump();
  return static_cast<int>(answer);
}

__attribute__((visibility("default"))) time_t time(time_t* now) noexcept {
  timespec today{};
  clock_gettime(CLOCK_REALTIME, &today);
  if (now != nullptr) *now = today.tv_sec;
  return today.tv_sec;
}

}  // extern "C"

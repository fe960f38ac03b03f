// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace gable {

inline std::uint64_t ns_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

// Monotonic time in ns, for durations on the CPU. Not comparable with CUPTI's clock.
inline std::uint64_t steady_ns() { return ns_of(CLOCK_MONOTONIC); }
// Time since 1970 in ns; may jump. See host_clock.h.
inline std::uint64_t system_ns() { return ns_of(CLOCK_REALTIME); }

// The processor's own steady counter where it has one that runs at one rate on all cores and in all
// power states; else steady_ns(). Read twice for every NVTX range, where clock_gettime would be
// half the cost.
#if defined(__x86_64__)
inline bool has_steady_counter() {
  static const bool invariant = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
  }();
  return invariant;
}
inline std::uint64_t ticks() { return has_steady_counter() ? __rdtsc() : steady_ns(); }
#elif defined(__aarch64__)
inline std::uint64_t ticks() {
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}
#else
inline std::uint64_t ticks() { return steady_ns(); }
#endif

// Turns ticks into ns by what both clocks showed since it was made.
class TickScale {
 public:
  [[nodiscard]] double ns_per_tick() const {
    const auto passed = ticks() - ticks_;
    return passed > 0 ? static_cast<double>(steady_ns() - ns_) / static_cast<double>(passed) : 1.0;
  }

 private:
  std::uint64_t ns_ = steady_ns(), ticks_ = ticks();
};

}  // namespace gable

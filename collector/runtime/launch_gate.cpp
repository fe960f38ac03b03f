// SPDX-License-Identifier: Apache-2.0
#include "collector/runtime/launch_gate.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace gable {
namespace {

constexpr int kMostPatience = 4;  // times it, in all

// Grows whenever a launch of any thread ends.
std::uint64_t launches_passed() {
  std::uint64_t sum = 0;
  ThreadRegistry::instance().each(
      [&sum](ThreadState& thread) { sum += thread.passing.load(std::memory_order_relaxed); });
  return sum;
}

long membarrier(int command) { return ::syscall(SYS_membarrier, command, 0, 0); }

}  // namespace

LaunchGate::LaunchGate() : fenced_(membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) != 0) {}

std::vector<std::uint32_t> LaunchGate::wait_for_others(std::chrono::milliseconds patience) const {
  if (!fenced_) (void)membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  const auto began = std::chrono::steady_clock::now();
  auto give_up = began + patience;
  auto passed = launches_passed();
  const ThreadState* const own = &this_thread();
  std::vector<std::uint32_t> left;
  ThreadRegistry::instance().each([&](ThreadState& thread) {
    const auto seen = thread.passing.load(std::memory_order_seq_cst);
    if (&thread == own || (seen & 1) == 0 || seen == thread.given_up) return;
    while (thread.passing.load(std::memory_order_acquire) == seen &&
           thread.taken.load(std::memory_order_acquire)) {
      if (const auto now = std::chrono::steady_clock::now(); now >= give_up) {
        // Launches take turns: the last of many threads is not blocked as long as others leave.
        const auto by_now = launches_passed();
        if (by_now == passed || now >= began + kMostPatience * patience) {
          thread.given_up = seen;
          left.push_back(thread.passing_id.load(std::memory_order_relaxed));
          return;
        }
        passed = by_now;
        give_up = now + patience;
      }
      std::this_thread::yield();
    }
  });
  return left;
}

}  // namespace gable

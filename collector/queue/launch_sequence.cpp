// SPDX-License-Identifier: Apache-2.0
#include "collector/queue/launch_sequence.h"

#include <thread>

namespace gable {
namespace {

constexpr std::uint32_t kOfLate = 512;  // launches after which older ones count half
constexpr std::uint32_t kShare = 4, kFirst = 64;

}  // namespace

bool LaunchSequence::takes_over(const void* thread) {
  const auto others = others_.fetch_add(1, std::memory_order_relaxed) + 1;
  const void* leader = leader_.load(std::memory_order_relaxed);
  const auto patience = length() != 0 ? kPatience + 4 * length()
                                      : kShare * own_.load(std::memory_order_relaxed) + kFirst;
  if (leader != nullptr && others <= patience) return false;
  if (!leader_.compare_exchange_strong(leader, thread, std::memory_order_relaxed)) return false;
  own_.store(0, std::memory_order_relaxed);
  others_.store(0, std::memory_order_relaxed);
  new_leader_.store(leader != nullptr, std::memory_order_relaxed);
  return true;
}

PeriodMark LaunchSequence::add_alone(std::uint64_t key, std::uint32_t kernels) {
  if (new_leader_.load(std::memory_order_relaxed)) {
    new_leader_.store(false, std::memory_order_relaxed);
    const bool followed = length() != 0;
    finder_.start_anew();
    length_.store(0, std::memory_order_relaxed);
    if (followed) return PeriodMark::gone;
  }
  const auto own = own_.load(std::memory_order_relaxed) + 1;
  own_.store(own < kOfLate ? own : own / 2, std::memory_order_relaxed);
  if (length() != 0) {
    others_.store(0, std::memory_order_relaxed);
  } else if (own >= kOfLate) {
    others_.store(others_.load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
  }
  const auto mark = finder_.add(key, kernels);
  if (mark != PeriodMark::none) length_.store(finder_.length(), std::memory_order_relaxed);
  hopeful_.store(finder_.hopeful(), std::memory_order_relaxed);
  return mark;
}

void LaunchSequence::skip() {
  while (inside_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  finder_.skip();
  length_.store(finder_.length(), std::memory_order_relaxed);
  hopeful_.store(true, std::memory_order_relaxed);
  inside_.store(false, std::memory_order_release);
}

}  // namespace gable

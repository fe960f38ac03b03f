// SPDX-License-Identifier: Apache-2.0
// Events on their way from one application thread to the analysis: a ring with one writer (the
// thread) and one reader at a time (whoever holds the analysis lock). Nothing blocks: a full ring
// makes the writer drain it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/profile/step_call.h"
#include "collector/layers/collective_messages.h"

namespace gable {

struct Event {
  enum class Kind : std::uint8_t {
    launch,
    copy,
    graph,
    call_after_wait,
    tokens,
    call,
    input,
    stream,
    message
  };
  Kind kind = Kind::launch;
  std::uint32_t step = 0;  // the step (by number) in which it happened
  union {
    LaunchEvent launch;
    CopyCall copy;
    GraphLaunch graph;
    CallAfterWait call_after_wait;
    TokenCount tokens;
    StepCall call;
    InputCall input;
    StreamMade stream;
    CollectiveMessage message;
  };
  Event() : launch() {}
};
static_assert(std::is_trivially_copyable_v<Event>);
static_assert(sizeof(Event) == 72);

class EventRing {
 public:
  static constexpr std::size_t kSize = 2048;  // events, a power of two; 144 KiB per thread

  EventRing() : slots_(kSize) {}

  // Returns false if the ring is full.
  bool push(const Event& event) {
    const auto head = head_.load(std::memory_order_relaxed);
    if (head - tail_seen_ >= kSize) {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (head - tail_seen_ >= kSize) return false;
    }
    slots_[head & (kSize - 1)] = event;
    head_.store(head + 1, std::memory_order_release);
    return true;
  }

  template <typename Use>
  void drain(Use&& use) {
    auto tail = tail_.load(std::memory_order_relaxed);
    const auto head = head_.load(std::memory_order_acquire);
    for (; tail != head; ++tail) use(slots_[tail & (kSize - 1)]);
    tail_.store(tail, std::memory_order_release);
  }

 private:
  alignas(64) std::atomic<std::size_t> head_{0};
  // The writer's copy of tail_, so that it seldom reads the reader's cache line.
  std::size_t tail_seen_ = 0;
  alignas(64) std::atomic<std::size_t> tail_{0};
  std::vector<Event> slots_;
};

}  // namespace gable

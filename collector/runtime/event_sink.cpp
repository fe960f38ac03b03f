// SPDX-License-Identifier: Apache-2.0
#include "collector/runtime/event_sink.h"

#include "collector/layers/launch_hash.h"

namespace gable {

EventSink::EventSink(LayerTree& layers, FunctionTable& functions, ProfileLimits limits)
    : profile_(layers, functions, limits) {}

void EventSink::count(std::uint32_t step, const LaunchKey& key) {
  auto& slot = steps_[step % 4];
  if (slot.step != step) slot = {step, {}};
  slot.summary.hash += hash_key(key);
  ++slot.summary.launches;
}

void EventSink::take(const Event& event) {
  ++progress_.events;
  switch (event.kind) {
    case Event::Kind::launch:
      count(event.step, event.launch.key);
      if (recorder_ != nullptr) recorder_->add(event.step, event.launch);
      profile_.add(event.launch);
      last_launch_ = event.launch.key;
      last_correlation_ = event.launch.correlation;
      break;
    case Event::Kind::copy:
      if (recorder_ != nullptr) recorder_->add(event.step, event.copy);
      profile_.add(event.copy);
      break;
    case Event::Kind::graph:
      count(event.step, event.graph.key);
      if (recorder_ != nullptr) recorder_->add(event.step, event.graph);
      profile_.add(event.graph);
      break;
    case Event::Kind::call_after_wait:
      profile_.add(event.call_after_wait);
      break;
    case Event::Kind::tokens:
      profile_.add(event.tokens);
      break;
    case Event::Kind::call:
      profile_.add(event.call);
      takes_calls_.store(profile_.takes_calls(), std::memory_order_relaxed);
      break;
    case Event::Kind::input:
      profile_.add(event.input);
      break;
    case Event::Kind::stream:
      profile_.add(event.stream);
      break;
    case Event::Kind::message:
      take(event.message);
      break;
  }
}

// It comes right behind its launch, unless the ring was emptied in between.
void EventSink::take(const CollectiveMessage& message) {
  if (message.correlation != last_correlation_) return;
  CollectiveCall call;
  call.key = last_launch_;
  call.kind = message.kind;
  call.ranks = message.ranks;
  if (message.sized) call.bytes = message.bytes;
  call.one_node = message.one_node;
  profile_.add(call);
}

void EventSink::drain_locked() {
  ThreadRegistry::instance().each([this](ThreadState& thread) {
    if (recorder_ != nullptr) recorder_->set_thread(&thread, thread.ranges.is_main);
    thread.ring.drain([this](const Event& e) {
      mutex_.assert_held();
      take(e);
    });
  });
}

void EventSink::drain() {
  const MutexLock hold(mutex_);
  drain_locked();
}

StepSummary EventSink::summary(std::uint32_t step) {
  const MutexLock hold(mutex_);
  drain_locked();
  const auto& slot = steps_[step % 4];
  return slot.step == step ? slot.summary : StepSummary{};
}

void EventSink::take_spans(WindowId window) {
  const MutexLock hold(mutex_);
  take_spans_locked(window);
}

void EventSink::take_spans_locked(WindowId window) {
  const double scale = tick_scale_.ns_per_tick();
  ThreadRegistry::instance().each([&](ThreadState& thread) {
    thread.spans.take([&](const SpanSums::Taken& taken) {
      mutex_.assert_held();
      const auto cpu_ns = static_cast<std::uint64_t>(static_cast<double>(taken.sums.ticks) * scale);
      profile_.add(LayerSpan{taken.layer, window, cpu_ns, taken.sums.calls, taken.sums.timed});
    });
    thread.waits.take([&](const SpanSums::Taken& taken) {
      mutex_.assert_held();
      profile_.add(LayerSpan{taken.layer, window, 0, 0, 0, taken.sums.ticks});
    });
  });
}

std::uint64_t EventSink::take_overhead_ns() {
  std::uint64_t sum = 0;
  ThreadRegistry::instance().each([&sum](ThreadState& thread) {
    sum += thread.overhead_ns.exchange(0, std::memory_order_relaxed);
  });
  return sum;
}

}  // namespace gable

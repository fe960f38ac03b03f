// SPDX-License-Identifier: Apache-2.0
#include "collector/session/step_calls.h"

#include <utility>

namespace gable {

// What a stream that captures is told is no work; CUPTI tells of the nodes that it becomes.
void StepCalls::begin(ThreadState& thread, std::uint32_t correlation, WindowId window) {
  thread.call = {};
  if (!c_.sink.takes_calls() || c_.activity.capturing()) return;
  thread.call = {window, correlation, c_.windows.timestamp()};
}

void StepCalls::end(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const auto open = std::exchange(thread.call, {});
  if (open.correlation != data.correlationId || open.enter_ns == 0) return;
  Event event;
  event.kind = Event::Kind::call;
  auto& call = event.call = StepCall{};
  call.enter_ns = open.enter_ns;
  call.exit_ns = c_.windows.timestamp();
  call.window = open.window;
  call.thread = thread.number;
  decode_step_call(id, data, call);
  c_.sink.emit(thread, event);
}

bool StepCalls::begin_input() {
  if (c_.rt.hot.call_window.load(std::memory_order_relaxed) == kNoWindow) return false;
  auto& thread = this_thread();
  if (thread.input_start_ns != 0) return false;
  thread.input_start_ns = c_.windows.timestamp();
  return thread.input_start_ns != 0;
}

void StepCalls::end_input() {
  const WindowId window = c_.rt.hot.call_window.load(std::memory_order_relaxed);
  auto& thread = this_thread();
  const std::uint64_t start_ns = std::exchange(thread.input_start_ns, 0);
  if (start_ns == 0 || window == kNoWindow) return;
  Event event;
  event.kind = Event::Kind::input;
  event.input = {{start_ns, c_.windows.timestamp(), thread.number}, window};
  c_.sink.emit(thread, event);
}

void StepCalls::made(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  if (!succeeded(data)) return;
  Event event;
  event.kind = Event::Kind::stream;
  event.stream = decode_stream_made(id, data.functionParams);
  if (event.stream.non_blocking) c_.sink.emit(thread, event);
}

void StepCalls::gone(ThreadState& thread, const CUpti_CallbackData& data) {
  Event event;
  event.kind = Event::Kind::stream;
  event.stream = {destroyed_stream(data.functionParams), false};
  c_.sink.emit(thread, event);
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/session/launch_path.h"

#include <utility>

#include "analysis/events/collective.h"
#include "collector/cupti/helpers.h"
#include "collector/process/clock.h"
#include "collector/queue/range_choice.h"
#include "collector/runtime/range_calls.h"

namespace gable {
namespace {

constexpr std::uint32_t kSampleEvery = 32;  // launches between two measurements of our own cost

void add_cost(ThreadState& thread, SampledCost& cost, std::uint64_t began) {
  thread.overhead_ns.fetch_add(cost.add(steady_ns() - began, thread.stands_for),
                               std::memory_order_relaxed);
}

}  // namespace

FunctionId LaunchPath::function_of(ThreadState& thread, const void* handle, const char* symbol) {
  const auto epoch = c_.unload_epoch.load(std::memory_order_relaxed);
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  auto& slot = thread.functions[((bits >> 4) ^ (bits >> 14)) & (thread.functions.size() - 1)];
  if (slot.handle == handle && slot.symbol == symbol && slot.epoch == epoch && slot.epoch != 0)
    return slot.id;
  const FunctionId id = c_.rt.functions.intern(symbol != nullptr ? symbol : "(unnamed)");
  slot = {handle, symbol, epoch, id};
  auto seen = functions_seen_.load(std::memory_order_relaxed);
  while (id >= seen) {  // ids are given in order: this is a function no launch had before
    if (functions_seen_.compare_exchange_weak(seen, id + 1, std::memory_order_relaxed)) {
      c_.windows.flaw(kNewFunction);
      if (symbol != nullptr && gable::may_wait_for_ranks(symbol))
        collective_.store(true, std::memory_order_relaxed);
      break;
    }
  }
  return id;
}

void LaunchPath::look_up_device(ThreadState& thread, const CUpti_CallbackData& data) {
  std::optional<std::uint32_t> id;
  if (data.context != nullptr) {
    id = ask_patiently<std::uint32_t>(
        c_.api, &Helpers::calls,
        [call = c_.api.cuptiGetDeviceId, context = data.context](std::uint32_t& answer) {
          return called("cuptiGetDeviceId", call, context, &answer);
        });
  }
  if (!id && data.context != nullptr)
    c_.rt.notes.record(
        "CUPTI did not report which GPU a context belongs to; its kernels are shown as GPU 0's.");
  thread.context = {data.context, data.contextUid, static_cast<std::int32_t>(id.value_or(0))};
  c_.gpus.use(thread.context.device);
}

// False: it is no launch of one kernel.
bool LaunchPath::decode(ThreadState& thread, CUpti_CallbackId id, const CUpti_CallbackData& data,
                        LaunchEvent& launch, Counters::Place& place) {
  LaunchArguments arguments;
  if (!decode_launch(id, data.functionParams, arguments)) return false;
  place = place_of(thread, data);
  place.stream = arguments.stream;
  launch.key.device = place.device;
  launch.key.function = function_of(thread, arguments.function, data.symbolName);
  launch.key.layer = layer_of_launch(c_.rt, thread, launch.inherited_layer);
  launch.key.grid = arguments.grid;
  launch.key.block = arguments.block;
  launch.key.cluster = arguments.cluster;
  launch.key.dynamic_shared = arguments.dynamic_shared;
  launch.correlation = data.correlationId;
  return true;
}

void LaunchPath::enter(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;  // launched by CUPTI within one of Gable's calls
  thread.in_window_launch = false;
  thread.stands_for = ++thread.launches % kSampleEvery == 0 ? kSampleEvery : 0;
  const auto entered = thread.stands_for != 0 ? steady_ns() : 0;
  const auto changes = c_.windows.changes_ns();

  Event event;
  event.kind = Event::Kind::launch;
  auto& launch = event.launch;
  Counters::Place place;
  if (!decode(thread, id, data, launch, place)) return;
  if (thread.open_operator != 0)
    c_.rt.model.add_launch(thread.open_operator, launch.key);
  else if (c_.rt.model.counts_outside() &&
           !(data.symbolName != nullptr && gable::may_wait_for_ranks(data.symbolName)))
    c_.rt.model.add_outside(launch.key.device, launch.key.layer);
  if (c_.activity.capturing()) return enter_captured(thread, launch);

  const auto in = enter_window(thread, place, launch.key, launch.correlation);
  if (!in) return;
  // What counters are of may have changed on the way.
  const bool by_layers = c_.counters.by_layers();
  const bool wanted = (in->counts || by_layers) && c_.filter.wanted(launch.key);
  launch.in_range = by_layers && wanted;
  if (in->counts) thread.in_window_launch = c_.windows.range_launch(place, launch.key, wanted);
  launch.window = in->window;
  event.step = in->step;
  if (thread.waited_in != kNoWindow) waits_.launched_after(thread, launch);
  c_.sink.emit(thread, event);
  if (thread.ranges.collectives.any()) tell_message(thread, event, data.symbolName);
  calls_.enter(thread, data.correlationId, in->window);
  // Changes are measured by themselves, all of them.
  if (thread.stands_for != 0 && c_.windows.changes_ns() == changes)
    add_cost(thread, thread.entered_cost, entered);
}

// What NCCL's call says of the kernel that it launches.
void LaunchPath::tell_message(ThreadState& thread, const Event& launch, const char* symbol) {
  if (symbol == nullptr || !is_collective(symbol)) return;
  const auto message = thread.ranges.collectives.take();
  if (!message) return;
  Event event;
  event.kind = Event::Kind::message;
  event.step = launch.step;
  event.message = *message;
  event.message.correlation = launch.launch.correlation;
  c_.sink.emit(thread, event);
}

// It becomes a graph's node, most likely: then CUPTI tells of the node before the call returns.
// Nothing runs now, and nothing may be started or stopped.
void LaunchPath::enter_captured(ThreadState& thread, const LaunchEvent& launch) {
  c_.windows.flaw(kCapture);
  auto& capture = thread.capture;
  capture.launching = can_follow_graphs();
  capture.made_node = false;
  capture.key = launch.key;
  const auto in = c_.windows.enter_as_it_is(thread, launch.correlation);
  capture.window = in.window;
  capture.step = in.step;
}

void LaunchPath::exit(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;
  calls_.exit(thread, id, data);
  if (thread.capture.launching) {
    exit_captured(thread, data, succeeded(data));
  } else if (thread.in_window_launch) {
    exit_ranged(thread, data, succeeded(data));
  }
  Windows::leave(thread);
}

// A launch that made no node ran: another stream captures.
void LaunchPath::exit_captured(ThreadState& thread, const CUpti_CallbackData& data, bool launched) {
  auto& capture = thread.capture;
  capture.launching = false;
  if (!launched || capture.made_node) return;
  Event event;
  event.kind = Event::Kind::launch;
  event.launch = LaunchEvent{};
  event.launch.key = capture.key;
  event.launch.correlation = data.correlationId;
  event.launch.window = capture.window;
  event.step = capture.step;
  c_.sink.emit(thread, event);
}

void LaunchPath::exit_ranged(ThreadState& thread, const CUpti_CallbackData& data, bool launched) {
  thread.in_window_launch = false;
  const auto entered = thread.stands_for != 0 ? steady_ns() : 0;
  c_.windows.launch_ranged({data.context, data.contextUid, thread.context.device}, launched);
  if (thread.stands_for != 0) add_cost(thread, thread.left_cost, entered);
}

}  // namespace gable

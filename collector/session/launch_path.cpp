// SPDX-License-Identifier: Apache-2.0
// The launch path: CUPTI's callbacks become events. Everything here runs inside the program's own
// driver calls.
#include <algorithm>
#include <exception>
#include <utility>

#include "collector/cupti/helpers.h"
#include "collector/process/clock.h"
#include "collector/runtime/range_calls.h"
#include "collector/session/session.h"

namespace gable {
namespace {

constexpr std::uint32_t kSampleEvery = 32;  // launches between two measurements of our own cost

void add_cost(ThreadState& thread, std::uint64_t began) {
  thread.overhead_ns.fetch_add((steady_ns() - began) * thread.stands_for,
                               std::memory_order_relaxed);
}

}  // namespace

void CUPTIAPI Session::callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data) {
  auto& session = *static_cast<Session*>(self);
  const bool watching = session.rt_.hot.watching.load(std::memory_order_relaxed);
  try {
    if (!watching) {
      if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        session.follow_capture(kind_of(id), *static_cast<const CUpti_CallbackData*>(data));
        Windows::leave(this_thread());
      }
    } else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
      session.on_driver(id, *static_cast<const CUpti_CallbackData*>(data));
    } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
      session.on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
    }
  } catch (const std::exception& problem) {
    // Out of memory, most likely: stop looking, let the program run.
    session.rt_.hot.watching.store(false, std::memory_order_release);
    session.rt_.notes.say(std::string("collecting stopped (") + problem.what() +
                          "); your program runs on.");
  }
}

void Session::on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
  if (id >= static_cast<CUpti_CallbackId>(CUPTI_CBID_RESOURCE_GRAPH_CREATED)) {
    if (data.resourceDescriptor != nullptr)
      on_graph(static_cast<CUpti_CallbackIdResource>(id),
               *static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
  } else if (id == static_cast<CUpti_CallbackId>(CUPTI_CBID_RESOURCE_CONTEXT_CREATED)) {
    if (!saw_context_.exchange(true)) background_.wake(Background::kPlan);
  } else if (id == static_cast<CUpti_CallbackId>(CUPTI_CBID_RESOURCE_MODULE_LOADED)) {
    // One that CUPTI loads, out of a call of ours, is not the program's.
    if (!this_thread().busy) windows_.flaw(kModuleLoaded);
  }
}

void Session::on_driver(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const auto kind = kind_of(id);
  const bool enter = data.callbackSite == CUPTI_API_ENTER;
  if (kind == CallKind::launch) {
    enter ? enter_launch(id, data) : exit_launch(data);
  } else if (kind == CallKind::graph_launch) {
    enter ? enter_graph(data) : exit_launch(data);
  } else {
    enter ? enter_other(kind, data) : exit_other(kind, data);
  }
}

FunctionId Session::function_of(ThreadState& thread, const void* handle, const char* symbol) {
  const auto epoch = unload_epoch_.load(std::memory_order_relaxed);
  const auto bits = reinterpret_cast<std::uintptr_t>(handle);
  auto& slot = thread.functions[((bits >> 4) ^ (bits >> 14)) & (thread.functions.size() - 1)];
  if (slot.handle == handle && slot.symbol == symbol && slot.epoch == epoch && slot.epoch != 0)
    return slot.id;
  const FunctionId id = rt_.functions.intern(symbol != nullptr ? symbol : "(unnamed)");
  slot = {handle, symbol, epoch, id};
  auto seen = functions_seen_.load(std::memory_order_relaxed);
  while (id >= seen) {  // ids are given in order: this is a function no launch had before
    if (functions_seen_.compare_exchange_weak(seen, id + 1, std::memory_order_relaxed)) {
      windows_.flaw(kNewFunction);
      if (symbol != nullptr && gable::may_wait_for_ranks(symbol))
        collective_.store(true, std::memory_order_relaxed);
      break;
    }
  }
  return id;
}

Counters::Place Session::place_of(ThreadState& thread, const CUpti_CallbackData& data,
                                  std::int32_t& device) {
  auto& slot = thread.context;
  if (slot.context != data.context || slot.uid != data.contextUid) {
    std::optional<std::uint32_t> id;
    if (data.context != nullptr) {
      id = ask_patiently<std::uint32_t>(
          api_, &Helpers::calls,
          [call = api_.cuptiGetDeviceId, context = data.context](std::uint32_t& answer) {
            return called("cuptiGetDeviceId", call, context, &answer);
          });
    }
    if (!id && data.context != nullptr)
      rt_.notes.record(
          "CUPTI did not tell which GPU a context is of; its kernels are shown as GPU 0's.");
    slot = {data.context, data.contextUid, static_cast<std::int32_t>(id.value_or(0))};
  }
  device = slot.device;
  return {data.context, data.contextUid, slot.device};
}

bool Session::key_of_launch(ThreadState& thread, CUpti_CallbackId id,
                            const CUpti_CallbackData& data, LaunchEvent& launch,
                            const void*& stream) {
  LaunchArguments arguments;
  if (!decode_launch(id, data.functionParams, arguments)) return false;
  (void)place_of(thread, data, launch.key.device);
  launch.key.function = function_of(thread, arguments.function, data.symbolName);
  launch.key.layer = layer_of_launch(rt_, thread, launch.inherited_layer);
  launch.key.grid = arguments.grid;
  launch.key.block = arguments.block;
  launch.key.cluster = arguments.cluster;
  launch.key.dynamic_shared = arguments.dynamic_shared;
  launch.correlation = data.correlationId;
  stream = arguments.stream;
  return true;
}

void Session::enter_launch(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;  // launched by CUPTI, out of a call of ours
  thread.in_window_launch = false;
  thread.stands_for = ++thread.launches % kSampleEvery == 0 ? kSampleEvery : 0;
  const auto entered = thread.stands_for != 0 ? steady_ns() : 0;
  const auto changes = windows_.changes_ns();

  Event event;
  event.kind = Event::Kind::launch;
  auto& launch = event.launch;
  const void* stream = nullptr;
  if (!key_of_launch(thread, id, data, launch, stream)) return;
  if (activity_.capturing()) {
    // It becomes a graph's node, most likely: then CUPTI tells of the node before the call returns.
    // Nothing runs now, and nothing may be started or stopped.
    windows_.flaw(kCapture);
    thread.capture.launching = can_follow_graphs();
    thread.capture.made_node = false;
    thread.capture.key = launch.key;
    const auto entered_in = windows_.enter_as_it_is(thread, data.correlationId);
    thread.capture.window = entered_in.window;
    thread.capture.step = entered_in.step;
    return;
  }
  if (!saw_context_.load(std::memory_order_relaxed) && !saw_context_.exchange(true))
    background_.wake(Background::kPlan);
  output_.saw_launch();
  windows_.at_launch(thread, launch.key);
  // Of the step in which it all ended, nothing counts.
  if (windows_.steps_known() && !rt_.hot.watching.load(std::memory_order_relaxed)) return;

  if (rt_.hot.counters.load(std::memory_order_relaxed) && may_wait_for_ranks())
    windows_.before_collective();
  const Counters::Place place{data.context, data.contextUid, launch.key.device, stream};
  const auto in = windows_.enter(thread, place, launch.correlation);
  // What counters are of may have changed on the way.
  const bool by_layers = counters_.by_layers();
  const bool wanted = (in.counts || by_layers) && filter_.wanted(launch.key);
  launch.in_range = by_layers && wanted;
  if (in.counts) thread.in_window_launch = windows_.range_launch(place, launch.key, wanted);
  launch.window = in.window;
  event.step = in.step;
  if (thread.waited_in != kNoWindow) call_after_wait(thread, launch);
  sink_.emit(thread, event);
  // Changes are measured by themselves, all of them.
  if (thread.stands_for != 0 && windows_.changes_ns() == changes) add_cost(thread, entered);
}

void Session::exit_launch(const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;
  if (thread.in_window_launch || thread.capture.launching) end_launch(thread, data);
  Windows::leave(thread);
}

void Session::end_launch(ThreadState& thread, const CUpti_CallbackData& data) {
  const bool launched = data.functionReturnValue == nullptr ||
                        *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
  if (std::exchange(thread.capture.launching, false)) {
    // Another stream captures, this launch ran.
    if (launched && !thread.capture.made_node) launched_beside_capture(thread, data.correlationId);
    return;
  }
  thread.in_window_launch = false;
  const auto entered = thread.stands_for != 0 ? steady_ns() : 0;
  windows_.launch_ranged({data.context, data.contextUid, thread.context.device}, launched);
  if (thread.stands_for != 0) add_cost(thread, entered);
}

void Session::launched_beside_capture(ThreadState& thread, std::uint32_t correlation) {
  Event event;
  event.kind = Event::Kind::launch;
  event.launch = LaunchEvent{};
  event.launch.key = thread.capture.key;
  event.launch.correlation = correlation;
  event.launch.window = thread.capture.window;
  event.step = thread.capture.step;
  sink_.emit(thread, event);
}

void Session::enter_other(CallKind kind, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;
  switch (kind) {
    case CallKind::graph_change:
      graph_nodes_.exec_changed(launched_graph(data.functionParams), false);
      break;
    case CallKind::graph_part:
      graph_nodes_.exec_changed(launched_graph(data.functionParams), true);
      break;
    case CallKind::copy: {
      if (rt_.hot.span_window.load(std::memory_order_relaxed) == kNoWindow) return;
      // A step often begins with copies: activity must be on before them, not from the first
      // launch.
      if (windows_.steps_known() && !activity_.capturing()) windows_.settle_pending();
      const WindowId window = rt_.hot.span_window.load(std::memory_order_relaxed);
      if (window == kNoWindow) return;
      thread.waited_in = kNoWindow;
      Event event;
      event.kind = Event::Kind::copy;
      bool inherited = false;
      event.copy = {layer_of_launch(rt_, thread, inherited), window, data.correlationId};
      if (event.copy.layer == 0) event.copy.layer = rt_.hot.copies.load(std::memory_order_relaxed);
      sink_.emit(thread, event);
      break;
    }
    case CallKind::wait:
      enter_wait(thread);
      break;
    case CallKind::capture_begin:
      if (!activity_.capturing()) windows_.before_capture();
      follow_capture(kind, data);
      break;
    case CallKind::profiler_stop:
      windows_.profiler_stop();
      break;
    case CallKind::context_end:
      windows_.context_ends(data.context);
      break;
    default:
      break;
  }
}

// Also after the queue, as long as records are asked for: nothing is flushed while a stream
// captures.
void Session::follow_capture(CallKind kind, const CUpti_CallbackData& data) {
  const bool enter = data.callbackSite == CUPTI_API_ENTER;
  if (kind == CallKind::capture_begin && enter) {
    activity_.begin_capture();
    return;
  }
  const bool begun = kind == CallKind::capture_begin &&
                     (data.functionReturnValue == nullptr ||
                      *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS);
  const bool ended = kind == CallKind::capture_end && !enter;  // also where it fails
  if (!ended && (kind != CallKind::capture_begin || begun)) return;
  if (activity_.end_capture()) background_.request_flush();
}

void Session::exit_other(CallKind kind, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;
  switch (kind) {
    case CallKind::capture_begin:
    case CallKind::capture_end:
      follow_capture(kind, data);
      break;
    case CallKind::wait:
      exit_wait(thread);
      break;
    case CallKind::profiler_start:
      windows_.profiler_start();
      break;
    case CallKind::unload:
      unload_epoch_.fetch_add(1, std::memory_order_relaxed);
      break;
    default:
      break;
  }
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/session/callbacks.h"

#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>

#include "collector/cupti/cubin_lines.h"
#include "collector/runtime/range_calls.h"

namespace gable {

Callbacks::Callbacks(Collection& collection, MetricPlanner& planner, ReportOutput& output,
                     Flusher& flusher)
    : c_(collection),
      planner_(planner),
      flusher_(flusher),
      waits_(collection),
      calls_(collection),
      launches_(collection, planner, output, waits_, calls_),
      graphs_(collection, launches_, calls_) {}

void CUPTIAPI Callbacks::entry(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                               const void* data) {
  auto& own = *static_cast<Callbacks*>(self);
  auto& rt = own.c_.rt;
  const bool watching = rt.hot.watching.load(std::memory_order_relaxed);
  try {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
      const auto& call = *static_cast<const CUpti_CallbackData*>(data);
      watching ? own.on_driver(id, call) : own.after_queue(kind_of(id), call);
    } else if (watching && domain == CUPTI_CB_DOMAIN_RESOURCE) {
      own.on_resource(id, *static_cast<const CUpti_ResourceData*>(data));
    }
  } catch (const std::exception& problem) {
    // Out of memory, most likely: stop looking, let the program run.
    rt.hot.watching.store(false, std::memory_order_release);
    rt.notes.say(std::string("collecting stopped (") + problem.what() + "); your program runs on.");
  }
}

void Callbacks::on_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
  if (id >= static_cast<CUpti_CallbackId>(CUPTI_CBID_RESOURCE_GRAPH_CREATED)) {
    if (data.resourceDescriptor != nullptr)
      graphs_.changed(static_cast<CUpti_CallbackIdResource>(id),
                      *static_cast<const CUpti_GraphData*>(data.resourceDescriptor));
  } else if (id == static_cast<CUpti_CallbackId>(CUPTI_CBID_RESOURCE_CONTEXT_CREATED)) {
    planner_.saw_gpu();
  } else if (id == static_cast<CUpti_CallbackId>(CUPTI_CBID_RESOURCE_MODULE_LOADED)) {
    // A module that CUPTI loads within one of Gable's calls is not the program's.
    if (this_thread().busy) return;
    c_.windows.flaw(kModuleLoaded);
    if (data.resourceDescriptor != nullptr)
      tell_places(*static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor));
  }
}

void Callbacks::tell_places(const CUpti_ModuleResourceData& module) {
  if (module.pCubin == nullptr || module.cubinSize == 0) return;
  try {
    const auto lines =
        kernel_lines({reinterpret_cast<const std::uint8_t*>(module.pCubin), module.cubinSize});
    if (lines.empty()) return;
    std::error_code failed;
    const std::string here = std::filesystem::current_path(failed).string();
    for (const KernelLine& line : lines)
      c_.rt.functions.set_place(line.symbol, shown_line(line, here));
  } catch (const std::exception&) {
    return;  // these are unknown
  }
}

void Callbacks::on_driver(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const auto kind = kind_of(id);
  const bool enter = data.callbackSite == CUPTI_API_ENTER;
  if (kind == CallKind::launch) {
    enter ? launches_.enter(id, data) : launches_.exit(id, data);
  } else if (kind == CallKind::graph_launch) {
    enter ? graphs_.enter(data) : launches_.exit(id, data);
  } else {
    enter ? enter_other(kind, data) : exit_other(kind, id, data);
  }
}

// A launch that entered while the queue went on may leave only now.
void Callbacks::after_queue(CallKind kind, const CUpti_CallbackData& data) {
  follow_capture(kind, data);
  Windows::leave(this_thread());
}

void Callbacks::enter_other(CallKind kind, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;
  switch (kind) {
    case CallKind::graph_change:
      graphs_.exec_changed(data, false);
      break;
    case CallKind::graph_part:
      graphs_.exec_changed(data, true);
      break;
    case CallKind::copy:
      enter_copy(thread, data);
      calls_.enter(thread, data.correlationId);
      break;
    case CallKind::wait:
      waits_.enter(thread);
      calls_.enter(thread, data.correlationId);
      break;
    case CallKind::step:
      calls_.enter(thread, data.correlationId);
      break;
    case CallKind::stream_gone:
      calls_.gone(thread, data);
      break;
    case CallKind::capture_begin:
      if (!c_.activity.capturing()) c_.windows.before_capture();
      follow_capture(kind, data);
      break;
    case CallKind::profiler_stop:
      c_.windows.profiler_stop();
      break;
    case CallKind::context_end:
      c_.windows.context_ends(data.context);
      break;
    default:
      break;
  }
}

void Callbacks::exit_other(CallKind kind, CUpti_CallbackId id, const CUpti_CallbackData& data) {
  auto& thread = this_thread();
  if (thread.busy) return;
  calls_.exit(thread, id, data);
  switch (kind) {
    case CallKind::capture_begin:
    case CallKind::capture_end:
      follow_capture(kind, data);
      break;
    case CallKind::wait:
      waits_.exit(thread);
      break;
    case CallKind::stream_made:
      calls_.made(thread, id, data);
      break;
    case CallKind::profiler_start:
      c_.windows.profiler_start();
      break;
    case CallKind::unload:
      c_.forget_handles();
      break;
    default:
      break;
  }
}

void Callbacks::enter_copy(ThreadState& thread, const CUpti_CallbackData& data) {
  auto& hot = c_.rt.hot;
  if (hot.span_window.load(std::memory_order_relaxed) == kNoWindow) return;
  // A step often begins with copies: activity must be on before them, not from the first launch.
  if (c_.windows.steps_known() && !c_.activity.capturing()) c_.windows.settle_pending();
  const WindowId window = hot.span_window.load(std::memory_order_relaxed);
  if (window == kNoWindow) return;
  thread.waited_in = kNoWindow;
  Event event;
  event.kind = Event::Kind::copy;
  bool inherited = false;
  event.copy = {layer_of_launch(c_.rt, thread, inherited), window, data.correlationId};
  if (event.copy.layer == 0) event.copy.layer = hot.copies.load(std::memory_order_relaxed);
  c_.sink.emit(thread, event);
}

// Also after the queue, as long as records are asked for: nothing is flushed while a stream
// captures.
void Callbacks::follow_capture(CallKind kind, const CUpti_CallbackData& data) {
  const bool enter = data.callbackSite == CUPTI_API_ENTER;
  if (kind == CallKind::capture_begin && enter) {
    c_.activity.begin_capture();
    return;
  }
  const bool begun = kind == CallKind::capture_begin && succeeded(data);
  const bool ended = kind == CallKind::capture_end && !enter;  // also where it fails
  if (!ended && (kind != CallKind::capture_begin || begun)) return;
  if (c_.activity.end_capture()) flusher_.ask();
}

}  // namespace gable

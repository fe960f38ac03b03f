// SPDX-License-Identifier: Apache-2.0
// The frame of every call of the playback libcuda: faults, the rule about callbacks, and the tools
// client's ENTER and EXIT.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include "tools/playback/driver/gpu.h"

#define GABLE_CBID(name) CUPTI_DRIVER_TRACE_CBID_##name

namespace gable::playback {

// Inside callbacks only queries are allowed; waiting also, in callbacks of the driver API.
enum class Effect { query, wait, change };

template <typename Body>
CUresult api(std::uint32_t cbid, const char* name, Effect effect, const void* params, Body&& body,
             const char* symbol = nullptr) {
  Gpu& gpu = Gpu::get();
  ThreadState& me = thread_state();
  if (me.callback_depth > 0 && effect != Effect::query &&
      !(effect == Effect::wait && me.in_driver_callback)) {
    gpu.control().rule_broken(std::string(name) + " was called inside a callback of CUPTI");
  }
  if (me.in_injection)
    gpu.control().rule_broken(std::string(name) + " was called inside InitializeInjection");
  if (const auto fault = gpu.control().fault_of(name)) return static_cast<CUresult>(*fault);
  if (!gpu.initialized.load(std::memory_order_acquire)) return CUDA_ERROR_NOT_INITIALIZED;
  ApiCall call;
  call.cbid = cbid;
  call.name = name;
  call.params = params;
  call.symbol = symbol;
  call.correlation = gpu.next_correlation.fetch_add(1, std::memory_order_relaxed);
  CUresult result = CUDA_SUCCESS;
  call.result = &result;
  const auto told = [&]() -> Tools* {
    return gpu.wanted[cbid].load(std::memory_order_acquire)
               ? gpu.tools.load(std::memory_order_acquire)
               : nullptr;
  };
  if (Tools* tools = told()) tools->enter(call);
  gpu.control().delay(name);
  result = body(call);
  // Asked again, as CUPTI does: a callback enabled meanwhile gets an EXIT without an ENTER.
  if (Tools* tools = told()) tools->exit(call);
  return result;
}

void tell(ResourceEvent event, Context* context, Stream* stream = nullptr,
          Module* module = nullptr);

void tell(GraphEvent event, const GraphChange& change);

// Work becomes a node of the graph that the stream captures.
CUresult capture(Stream& stream, Work work, CUgraphNodeType type,
                 const gable::CounterValues* counters = nullptr);

// The stream that a handle means on this thread.
Stream* stream_of(CUstream handle, bool per_thread);

}  // namespace gable::playback

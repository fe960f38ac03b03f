// SPDX-License-Identifier: Apache-2.0
// Which driver API calls concern us, and what their arguments say. Everything that depends on the
// layout of CUPTI's parameter structures is here.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/profile/step_call.h"

namespace gable {

enum class CallKind : std::uint8_t {
  none,
  launch,
  graph_launch,
  graph_change,  // of an executable graph: its nodes get other parameters
  graph_part,    // turns nodes of an executable graph on and off
  copy,          // copies and sets memory
  wait,          // for a stream, an event or a context
  capture_begin,
  capture_end,
  profiler_start,  // cudaProfilerStart / cuProfilerStart
  profiler_stop,
  context_end,  // destroys or resets a context
  unload,       // of a module or library: function handles may be used again
  step,         // matters where a step is recorded call by call, and nowhere else
  stream_made,
  stream_gone,
};

[[nodiscard]] CallKind kind_of(CUpti_CallbackId cbid);

// The executable graph of a call that launches or changes one; `params` as below.
[[nodiscard]] const void* launched_graph(const void* params);

// The stream of a call that launches one.
[[nodiscard]] const void* launched_stream(const void* params);

// Resource callbacks that are followed; those about graphs only where `graphs`.
[[nodiscard]] std::vector<CUpti_CallbackIdResource> watched_resources(bool graphs);

// Every driver callback that has a kind.
[[nodiscard]] std::vector<CUpti_CallbackId> watched_calls();

struct LaunchArguments {
  const void* function = nullptr;  // CUfunction or CUkernel: a handle, not to be dereferenced
  Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared = 0;
  const void* stream = nullptr;
};

// `params` as in CUpti_CallbackData::functionParams. False when the call is no launch of one
// kernel.
bool decode_launch(CUpti_CallbackId cbid, const void* params, LaunchArguments& out);

// At a call's EXIT: what it did in a recorded step. `call` has the thread already; its window and
// times are the caller's.
void decode_step_call(CUpti_CallbackId cbid, const CUpti_CallbackData& data, StepCall& call);
// At EXIT of a call that made a stream.
[[nodiscard]] StreamMade decode_stream_made(CUpti_CallbackId cbid, const void* params);
// Of a call that destroys one.
[[nodiscard]] std::uint64_t destroyed_stream(const void* params);

// At a call's EXIT: whether it succeeded; a CUPTI that does not say so is believed.
[[nodiscard]] bool succeeded(const CUpti_CallbackData& data);

}  // namespace gable

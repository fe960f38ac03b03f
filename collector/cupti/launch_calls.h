// SPDX-License-Identifier: Apache-2.0
// Which driver API calls Gable handles, and how to read their arguments. Everything that depends on
// the layout of CUPTI's parameter structures is here.
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
  graph_change,  // gives nodes of an executable graph other parameters
  graph_part,    // turns nodes of an executable graph on and off
  copy,          // copies and sets memory
  wait,          // waits for a stream, an event or a context
  capture_begin,
  capture_end,
  profiler_start,  // cudaProfilerStart / cuProfilerStart
  profiler_stop,
  context_end,  // destroys or resets a context
  unload,       // unloads a module or library: function handles may be reused
  step,         // matters only if a step is recorded call by call
  stream_made,
  stream_gone,
};

[[nodiscard]] CallKind kind_of(CUpti_CallbackId cbid);

// The executable graph of a call that launches or changes one; `params` as below.
[[nodiscard]] const void* launched_graph(const void* params);

// The stream of a call that launches a graph.
[[nodiscard]] const void* launched_stream(const void* params);

// The resource callbacks to enable; those about graphs only with `graphs`.
[[nodiscard]] std::vector<CUpti_CallbackIdResource> watched_resources(bool graphs);

// Every driver callback that has a kind.
[[nodiscard]] std::vector<CUpti_CallbackId> watched_calls();

struct LaunchArguments {
  const void* function = nullptr;  // CUfunction or CUkernel: a handle, not to be dereferenced
  Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared = 0;
  const void* stream = nullptr;
};

// `params` as in CUpti_CallbackData::functionParams. Returns false unless the call launches one
// kernel.
bool decode_launch(CUpti_CallbackId cbid, const void* params, LaunchArguments& out);

// Fills in what a call in a recorded step did, at its EXIT. `call` already has the thread; the
// caller sets its window and times.
void decode_step_call(CUpti_CallbackId cbid, const CUpti_CallbackData& data, StepCall& call);
// The stream that a call made, at its EXIT.
[[nodiscard]] StreamMade decode_stream_made(CUpti_CallbackId cbid, const void* params);
// The stream that a call destroys.
[[nodiscard]] std::uint64_t destroyed_stream(const void* params);

// Whether a call succeeded, at its EXIT; true if CUPTI does not say.
[[nodiscard]] bool succeeded(const CUpti_CallbackData& data);

}  // namespace gable

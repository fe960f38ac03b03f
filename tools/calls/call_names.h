// SPDX-License-Identifier: Apache-2.0
// What a call of the CUDA runtime or driver does, by the name that a trace gives it.
#pragma once

#include <cstdint>
#include <string_view>

namespace gable {

enum class CallName : std::uint8_t {
  other,
  launch,        // a kernel
  graph_launch,  // a CUDA graph
  copy,          // also memsets
  event_record,
  stream_wait,
  stream_synchronize,
  event_synchronize,
  context_synchronize,  // also a device
  free_memory,
  begin_capture,  // later calls on the thread build a graph and are no work
  end_capture,
};

struct NamedCall {
  CallName what = CallName::other;
  bool asynchronous = false;  // a copy whose name says so
};

// Recognises names of CUDA's runtime and driver and of AMD's runtime, with or without nsys's suffix
// ("_v3020"), "_ptsz" and "_v2".
[[nodiscard]] NamedCall named_call(std::string_view name);

// Whether the host waits in the call until the GPU gets there. Synchronous copies are excluded, as
// in Gable's own recordings.
[[nodiscard]] bool synchronises(CallName what);

}  // namespace gable

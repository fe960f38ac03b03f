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
  begin_capture,  // what follows on the thread makes a graph, and is no work
  end_capture,
};

struct NamedCall {
  CallName what = CallName::other;
  bool asynchronous = false;  // of a copy, its name says so
};

// Names of both, and of AMD's runtime, with or without what nsys appends ("_v3020"), "_ptsz" and
// "_v2".
[[nodiscard]] NamedCall named_call(std::string_view name);

// Whether the host stands still in it until the GPU has come so far. Copies that do are not among
// them, as in a recording of Gable's own.
[[nodiscard]] bool synchronises(CallName what);

}  // namespace gable

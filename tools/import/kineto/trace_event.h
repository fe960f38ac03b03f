// SPDX-License-Identifier: Apache-2.0
// One event of a trace of PyTorch's profiler, with those of its arguments that a report needs. Old
// traces (2021) and new ones name things differently.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/events/collective.h"
#include "analysis/events/events.h"
#include "tools/import/xla/xla_texts.h"
#include "tools/streams/json_stream.h"

namespace gable {

enum class TraceCategory : std::uint8_t {
  other,
  kernel,
  memcpy,
  memset,
  call,        // of the runtime or the driver
  wait,        // what a synchronisation record says of a call
  operation,   // of PyTorch
  annotation,  // record_function
  python,
  counters,  // CUPTI's, of one kernel
};

// What PyTorch says of a collective beside its kernel.
struct TraceMessage {
  std::string collective, type;                 // "allreduce", "BFloat16"
  std::string group, members;                   // "0", "[0,1]": of the process group
  std::optional<std::uint64_t> in, out, ranks;  // elements; ranks of the group
  std::optional<std::uint64_t> sequence;        // within the group
  bool uneven = false;                          // ranks get parts of different sizes
};

struct TraceEvent {
  TraceCategory category = TraceCategory::other;
  bool complete = false;         // ph is "X"
  bool metadata = false;         // ph is "M"
  std::string_view accelerator;  // whose category it has, where that is no GPU
  std::string name, pid, tid;
  std::int64_t start_ns = 0;  // also before the zero of the trace
  std::uint64_t duration_ns = 0;
  bool has_start = false, has_duration = false;

  std::optional<std::uint64_t> correlation, external, bytes, sequence, python_id, python_parent;
  std::optional<std::uint64_t> device, stream, context, graph_node, wait_stream, wait_record;
  std::uint64_t forward_thread = 0;
  std::optional<Dim3> grid, block;
  std::optional<std::uint64_t> registers, shared_bytes;  // static and dynamic
  // Sizes of the operator's inputs; a list of tensors is one without sizes.
  std::vector<std::vector<std::int64_t>> dims;
  bool has_dims = false;
  std::vector<std::string> types, values;
  std::vector<std::pair<std::string, double>> counters;
  TraceMessage message;
  XlaTexts xla;  // of JAX's and TensorFlow's; in metadata its name is a process's or thread's

  // A time before the zero of the trace stays below it, and wraps, until all are moved.
  [[nodiscard]] std::uint64_t wrapped_start_ns() const {
    return static_cast<std::uint64_t>(start_ns);
  }
  [[nodiscard]] std::uint64_t wrapped_end_ns() const { return wrapped_start_ns() + duration_ns; }
  void clear();
};

// Behind the event's bracket. Throws WrongUse, with file and line.
void read_trace_event(JsonStream& json, TraceEvent& event);

// The collective that a kernel is of, without its key; nothing where the trace names none. No trace
// says whether all ranks are on one machine.
[[nodiscard]] std::optional<CollectiveCall> collective_of(const TraceMessage& message);

// A stream or context: -1 and what is no 32 bits are none.
[[nodiscard]] std::uint32_t trace_handle(const std::optional<std::uint64_t>& number);

// Microseconds as a trace has them, in whole ns.
[[nodiscard]] std::optional<std::int64_t> trace_time(std::string_view text);

}  // namespace gable

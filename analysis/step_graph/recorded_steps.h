// SPDX-License-Identifier: Apache-2.0
// What is known of a few neighbouring steps before a graph is made of them: the calls of the host's
// threads, and what ran on the GPU. Plain data, filled by readers of records or files. Times are ns
// on one clock. Handles (threads, streams, events, contexts) are any distinct numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace gable {

// Calls of a stream that captures are no work and are left out.
enum class RecordedCallKind : std::uint8_t {
  launch,               // a kernel, a copy or a memset: one operation
  graph_launch,         // the operations of `graph`
  host_function,        // an operation on the host, in the order of the stream
  event_record,         // records `event` in `stream`
  stream_wait,          // `stream` waits for `event`
  stream_synchronize,   // the host waits for `stream`
  event_synchronize,    // the host waits for `event`
  context_synchronize,  // the host waits for all streams of `context`
  query_succeeded,      // of `event`, or of `stream` if `event` is 0
  query_not_ready,
  free_memory,  // may wait for the context
  other,
};

struct RecordedCall {
  std::uint64_t enter_ns = 0, exit_ns = 0;
  std::uint64_t stream = 0;  // streams are known by (context, stream)
  std::uint64_t event = 0;   // events are known in the whole process
  std::uint64_t exec = 0;    // of a graph launch: which instance
  std::uint32_t graph = 0;   // of a graph launch: index in RecordedSteps::graphs
  std::uint32_t thread = 0, context = 0;
  std::uint32_t correlation = 0;  // joins a call to its operations; 0: none
  RecordedCallKind kind = RecordedCallKind::other;
  bool programmatic = false;  // launched with programmatic dependent launch
};

enum class OperationKind : std::uint8_t { kernel, collective, copy, memset, host_function };
enum class CopyWay : std::uint8_t { none, host_to_device, device_to_host, device_to_device };

struct RecordedOperation {
  std::uint64_t start_ns = 0, end_ns = 0;  // both 0: unknown
  std::uint64_t graph_node = 0;            // 0: not in a graph
  std::uint32_t correlation = 0;
  std::uint32_t key = 0;  // operations of one key do the same work
  OperationKind kind = OperationKind::kernel;
  CopyWay way = CopyWay::none;
  bool pageable = false;      // the host's side of the copy is pageable
  bool asynchronous = false;  // the record says that the copy is
};

struct RecordedStream {
  std::uint64_t stream = 0;
  std::uint32_t context = 0;
  bool legacy = false;        // the legacy default stream of its context
  bool non_blocking = false;  // does not wait for the legacy stream, nor it for this one
};

struct RecordedGraph {
  struct Edge {
    std::uint32_t from = 0, to = 0;  // indices in `nodes`; from < to
  };
  std::vector<std::uint64_t> nodes;  // graph node ids, each after those that it waits for
  std::vector<Edge> edges;
};

// The launch queue was full, and the call waited between these times (from OVERHEAD records).
struct QueueFull {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint32_t correlation = 0;
};

// Before `to`, its thread waited until `from` had returned on another thread.
struct Handoff {
  std::uint32_t from = 0, to = 0;  // indices of calls; from < to
};

// The program fetched its next input between these times, as in a data loader's __next__. Calls may
// lie within.
struct InputWait {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;
};

struct RecordedSteps {
  std::vector<RecordedCall> calls;  // in the order in which they were made
  std::vector<RecordedOperation> operations;
  std::vector<RecordedStream> streams;  // streams not listed are neither legacy nor non-blocking
  std::vector<RecordedGraph> graphs;
  std::vector<QueueFull> queue_full;
  std::vector<Handoff> handoffs;
  std::vector<InputWait> inputs;  // in any order; empty: unknown, or no input fetched
  // Indices of the first call of each step, then of the first call after the last step.
  std::vector<std::uint32_t> borders;
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Makes a record of neighbouring steps, for a step graph, from the calls and GPU work in another
// tool's file. docs/import.md says what is taken from which file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/profile/step_record.h"
#include "tools/calls/call_names.h"

namespace gable {

// A call; `correlation` is unique in the file, even across processes.
struct TracedCall {
  std::uint64_t start_ns = 0, duration_ns = 0;
  std::uint64_t correlation = 0;
  std::uint32_t thread = 0;
  CallName what = CallName::other;
  bool asynchronous = false;
  [[nodiscard]] std::uint64_t end_ns() const { return start_ns + duration_ns; }
};

struct TracedOperation {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint64_t graph_node = 0;  // 0: unknown or not in a graph
  std::uint64_t correlation = 0;
  std::uint64_t stream = 0;
  std::uint32_t context = 0;
  std::int32_t device = 0;
  std::uint32_t key = 0;  // index in TracedSteps::work
  OperationKind kind = OperationKind::kernel;
  CopyWay way = CopyWay::none;
  bool pageable = false;
};

// What a synchronisation record says of the call with the same correlation.
struct TracedWait {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::uint64_t correlation = 0;
  std::uint64_t stream = kUnknown;  // stream that waits or is waited for
  std::uint64_t record = 0;         // correlation of the awaited event record; 0: unknown
  std::uint64_t record_stream = kUnknown;
  std::uint32_t context = 0, record_context = 0;
};

struct TracedStream {
  std::uint64_t stream = 0;
  std::uint32_t context = 0;
  bool legacy = false, non_blocking = false;
};

// A call that waited because the launch queue was full.
struct TracedFullQueue {
  std::uint64_t start_ns = 0, end_ns = 0, correlation = 0;
};

struct TracedSteps {
  // All calls from the first of `starts` to the last, in any order.
  std::vector<TracedCall> calls;
  std::vector<TracedOperation> operations;
  std::vector<TracedWait> waits;
  std::vector<TracedStream> streams;  // if the file lists them
  std::vector<TracedFullQueue> full;
  std::vector<std::uint64_t> starts;  // starts of the steps, then the end of the last
  std::vector<RecordedWork> work;
  std::vector<InputWait> inputs;
  // Whether unlisted streams block. A stream whose work overlapped the legacy stream's is never
  // taken for a blocking one.
  bool others_block = false;
  bool tells_waits = false;  // the file has synchronisation records, maybe none in these steps
};

// A record with more calls than this is not made: three take 80 MB.
inline constexpr std::size_t kMostTracedCalls = 1u << 18;

// The first steps of up to three records of three neighbours: near the beginning, in the middle and
// at the end. `sequences`: hashes of what the steps launch, 0 for steps that launch nothing, which
// are never taken. If any three neighbours are alike, only such are taken, and not the very first
// step if there are others.
[[nodiscard]] std::vector<std::size_t> record_places(const std::vector<std::uint64_t>& sequences);

// Makes the record: merges nested calls, joins handles, and shifts the GPU's clock to the host's.
[[nodiscard]] StepRecord make_step_record(TracedSteps steps);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// From the calls and the GPU work in another tool's file to a record of neighbouring steps, of
// which a graph can be made. docs/import.md says what is taken from which file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/profile/step_record.h"
#include "tools/calls/call_names.h"

namespace gable {

// A call; `correlation` is a number that no other call of the file has, of another process neither.
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
  std::uint64_t graph_node = 0;  // 0: unknown, or of no graph
  std::uint64_t correlation = 0;
  std::uint64_t stream = 0;
  std::uint32_t context = 0;
  std::int32_t device = 0;
  std::uint32_t key = 0;  // index in TracedSteps::work
  OperationKind kind = OperationKind::kernel;
  CopyWay way = CopyWay::none;
  bool pageable = false;
};

// What a synchronisation record says of the call with its correlation.
struct TracedWait {
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::uint64_t correlation = 0;
  std::uint64_t stream = kUnknown;  // that waits, or is waited for
  std::uint64_t record = 0;  // correlation of the event record that is waited for; 0: unknown
  std::uint64_t record_stream = kUnknown;
  std::uint32_t context = 0, record_context = 0;
};

struct TracedStream {
  std::uint64_t stream = 0;
  std::uint32_t context = 0;
  bool legacy = false, non_blocking = false;
};

// A call stood still because the launch queue was full.
struct TracedFullQueue {
  std::uint64_t start_ns = 0, end_ns = 0, correlation = 0;
};

struct TracedSteps {
  // In any order; all of the time from the first of `starts` to the last.
  std::vector<TracedCall> calls;
  std::vector<TracedOperation> operations;
  std::vector<TracedWait> waits;
  std::vector<TracedStream> streams;  // where the file says
  std::vector<TracedFullQueue> full;
  std::vector<std::uint64_t> starts;  // of the steps, then the end of the last
  std::vector<RecordedWork> work;
  std::vector<InputWait> inputs;
  // Of streams that the file says nothing of. A stream whose work ran beside the legacy stream's is
  // never taken for a blocking one.
  bool others_block = false;
  bool tells_waits = false;  // it has synchronisation records, maybe none of these steps
};

// A record with more calls than this is not made: three take 80 MB.
inline constexpr std::size_t kMostTracedCalls = 1u << 18;

// The first steps of up to three records of three neighbours: near the beginning, in the middle
// and at the end. `sequences` are hashes of what the steps launch, 0 of those that launch nothing:
// they are never taken. Where any three neighbours are alike, only such are, and the very first
// step is left out where there are others.
[[nodiscard]] std::vector<std::size_t> record_places(const std::vector<std::uint64_t>& sequences);

// Calls within calls are one, handles are joined, the GPU's clock is moved to the host's.
[[nodiscard]] StepRecord make_step_record(TracedSteps steps);

}  // namespace gable

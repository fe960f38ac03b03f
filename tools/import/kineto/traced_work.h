// SPDX-License-Identifier: Apache-2.0
// Kernels and copies of a trace of PyTorch's profiler, with what each says of where it came from.
// They are set aside until all calls are known.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "analysis/events/events.h"
#include "tools/import/kineto/trace_event.h"
#include "tools/import/records/imported.h"
#include "tools/streams/sorted_records.h"

namespace gable {

// Times are the trace's, and wrap below its zero.
struct TracedWork {
  std::uint64_t start_ns = 0, end_ns = 0;
  std::uint64_t correlation = 0, external = 0;
  std::uint64_t graph_node = 0;
  std::uint64_t bytes = 0;                             // of a copy
  std::uint32_t function = 0, shape = 0, message = 0;  // of a kernel
  std::uint32_t stream = 0, context = 0;
  std::int32_t device = 0;
  bool kernel = true, sized = false;  // sized: its bytes are known
  CopyKind kind = CopyKind::other;
  HostMemory host = HostMemory::unknown;

  // All but where it was launched. `by_ns` is added to its times.
  [[nodiscard]] ImportedKernel as_kernel(std::uint64_t by_ns) const;
  [[nodiscard]] ImportedCopy as_copy(std::uint64_t by_ns) const;
};

// In the order of the file.
using TracedWorks = SortedRecords<TracedWork, AsTheyCome>;

class WorkReader {
 public:
  explicit WorkReader(Imported& imported) : imported_(imported) {}

  void take_kernel(const TraceEvent& event);
  void take_copy(const TraceEvent& event);
  [[nodiscard]] TracedWorks& kernels() { return kernels_; }
  [[nodiscard]] const TracedWorks& kernels() const { return kernels_; }
  [[nodiscard]] TracedWorks& copies() { return copies_; }
  // Of the last kernel.
  [[nodiscard]] std::int32_t device() const { return device_; }

 private:
  FunctionId function_of(const std::string& name);
  std::uint32_t message_of(const TraceEvent& event, FunctionId function);
  std::uint32_t group_of(const TraceMessage& message);

  Imported& imported_;
  TracedWorks kernels_, copies_;
  std::unordered_map<std::string, FunctionId> functions_;
  std::unordered_map<std::string, std::uint32_t> groups_;
  std::int32_t device_ = 0;
};

}  // namespace gable

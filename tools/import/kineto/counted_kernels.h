// SPDX-License-Identifier: Apache-2.0
// Kernels of which PyTorch's profiler took counters (CUPTI's, by its experimental config). They
// come in the order of their launches, and say nothing else of where they were launched.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/calls/recorded_calls.h"
#include "tools/import/counters/ncu_metrics.h"
#include "tools/import/kineto/trace_event.h"
#include "tools/import/records/imported.h"
#include "tools/import/records/range_nest.h"

namespace gable {

class CountedKernels {
 public:
  explicit CountedKernels(Imported& imported) : imported_(imported), metrics_(imported) {}

  void take(const TraceEvent& event);
  [[nodiscard]] bool empty() const { return counted_.empty(); }
  // Adds them to the import. `calls`: all of the trace. `path`: of the trace.
  void finish(const std::vector<TracedCall>& calls, const RangeNest& nest, const std::string& path);

 private:
  struct Counted {
    std::int64_t start_ns = 0;  // only to sort them by
    Imported::CounterLaunch launch;
  };

  Imported& imported_;
  NcuMetrics metrics_;
  std::vector<Counted> counted_;
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Where work lies under a GPU's roofs.
//   t_compute = max over pipes (FP64, FMA, tensor) of the sum over types of operations / ceiling
//   t_memory  = max over the known levels of bytes / ceiling
//   time_min  = max(t_compute, t_memory)      fraction = time_min / time
// Without FLOPs or bytes, ncu's throughputs tell what holds a kernel. No fraction follows from
// them:
//   saving = (1 - max(compute throughput, memory throughput)) * time, what its busiest unit leaves
// Of ceilings of one name the preferred one holds (ceilings.h). Sparse tensor work is under the
// sparse rate of its type where that is known.
// Nothing is clamped: a fraction above 1 stays and is flagged.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

inline constexpr double kFullCoverage = 0.95;     // ratios of layers need this share of their time
inline constexpr double kLatencyFraction = 0.25;  // below it neither roof explains the time
inline constexpr double kWorthTail = 0.1;         // share of the time; less is not flagged

// Facts about the time of a kernel, or of a layer's kernels together.
struct BoundFacts {
  bool communicates = false;  // it waits for other ranks
  Maybe launch_ns;            // time of one launch
  Maybe latency_ns;           // from a launch's call to its start
  Maybe fraction;             // fraction of the roof that binds
  bool small = false;         // its grid does not fill the GPU
  bool memory = false;        // the binding roof is memory's
  // Of their peaks, as ncu has them: they tell where no fraction is known.
  Maybe compute_throughput, memory_throughput;
};
[[nodiscard]] Bound bound_of(const BoundFacts& facts);

// The least times of one launch under the roofs; empty if a part is unknown.
struct RoofTimes {
  Maybe compute_ns, memory_ns;
  std::string compute_ceiling, memory_ceiling;  // names of the binding ceilings
  MemoryLevel memory_level = MemoryLevel::none;
  [[nodiscard]] Maybe min_ns() const;
};

// The least time of one launch: under the roofs or, without work or roofs, what its busiest unit
// takes by ncu's throughputs. Empty if neither is known.
[[nodiscard]] Maybe least_ns(const RoofTimes& times, const KernelRow& kernel);

class Roofline {
 public:
  explicit Roofline(const std::vector<Ceiling>& ceilings, Maybe launch_latency_ns = std::nullopt);

  [[nodiscard]] RoofTimes times(const KernelRow& kernel) const;
  // Fills intensity, flops_per_s, bytes_per_s, roof, saving_ns and the flags "above_roof" and
  // "tail" from time, work, launches and waves.
  void apply(KernelRow& kernel) const;

  [[nodiscard]] Maybe launch_latency_ns() const { return launch_latency_ns_; }
  [[nodiscard]] Maybe ceiling(std::int32_t device, const std::string& name) const;
  // "theoretical" or "measured"; empty if there is no such ceiling.
  [[nodiscard]] std::string source(std::int32_t device, const std::string& name) const;

 private:
  std::map<std::pair<std::int32_t, std::string>, Ceiling> ceilings_;
  Maybe launch_latency_ns_;
};

}  // namespace gable

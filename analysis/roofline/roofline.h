// SPDX-License-Identifier: Apache-2.0
// Where work stands under a GPU's roofs.
//   t_compute = max over pipes (FP64, FMA, tensor) of the sum over types of operations / ceiling
//   t_memory  = max over the known levels of bytes / ceiling
//   time_min  = max(t_compute, t_memory)      fraction = time_min / time
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

// The roofs over one launch; empty where a part is unknown.
struct RoofTimes {
  Maybe compute_ns, memory_ns;
  std::string compute_ceiling, memory_ceiling;  // names of those that decide
  std::string memory_level;
  [[nodiscard]] Maybe min_ns() const;
};

class Roofline {
 public:
  explicit Roofline(const std::vector<Ceiling>& ceilings, Maybe launch_latency_ns = std::nullopt);

  [[nodiscard]] RoofTimes times(const KernelRow& kernel) const;
  // Fills intensity, flops_per_s, bytes_per_s, roof, saving_ns and the flag "above_roof" from time,
  // work and launches.
  void apply(KernelRow& kernel) const;

  [[nodiscard]] Maybe launch_latency_ns() const { return launch_latency_ns_; }
  [[nodiscard]] Maybe ceiling(std::int32_t device, const std::string& name) const;
  // "theoretical" or "measured"; empty where there is no such ceiling.
  [[nodiscard]] std::string source(std::int32_t device, const std::string& name) const;

 private:
  std::map<std::pair<std::int32_t, std::string>, Ceiling> ceilings_;
  Maybe launch_latency_ns_;
};

// Sums kernels into a layer. A sum is of its known parts; ratios use only kernels that have both
// parts, and stay empty where those have less than kFullCoverage of the time.
class LayerSum {
 public:
  explicit LayerSum(const Roofline& roofline) : roofline_(roofline) {}
  void add(const KernelRow& kernel, bool self);
  // Fills every field that follows from kernels; time_share is left to the caller.
  void fill(LayerRow& row) const;
  [[nodiscard]] bool empty() const { return !added_; }

 private:
  struct Ratio {  // of sums over the kernels that have both
    double top = 0, bottom = 0, weight = 0;
    bool any = false;
  };
  [[nodiscard]] Maybe ratio(const Ratio& ratio, double scale = 1) const;
  void add_time(const KernelRow& kernel, bool self);
  void add_time_again(const KernelRow& whole, bool self);
  void add_roof(const KernelRow& kernel, double weight);
  void fill_roof(LayerRow& row) const;

  const Roofline& roofline_;
  bool added_ = false;
  Maybe launches_;
  Maybe time_, time_self_;
  bool has_own_ = false;
  std::string time_source_;
  Flops flops_;
  std::map<std::string, Maybe> ops_;
  Bytes bytes_;
  double timed_launches_ = 0, all_launches_ = 0;
  double flops_time_ = 0, bytes_time_ = 0;
  Ratio dram_, l2_, l1_, flops_rate_, bytes_rate_, roof_;
  double roof_compute_ = 0, roof_memory_ = 0, communication_ = 0;
  std::map<std::string, double> compute_ceilings_, memory_ceilings_;  // time they ask for
  std::map<std::string, std::string> levels_;
  Maybe saving_;
};

// Kernels into their layers and those above: every field of report.layers that follows from
// report.kernels. A layer without kernels keeps a time of 0 (it only copied), or none.
void sum_layers(Report& report, const Roofline& roofline);

}  // namespace gable

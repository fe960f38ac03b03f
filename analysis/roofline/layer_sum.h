// SPDX-License-Identifier: Apache-2.0
// Kernels summed into layers.
#pragma once

#include <map>
#include <string>

#include "analysis/report/report.h"
#include "analysis/roofline/roofline.h"
#include "analysis/roofline/set_metrics.h"

namespace gable {

// Sums kernels into a layer. A sum has only known parts; ratios use only kernels that have both
// parts, and stay empty if these have less than kFullCoverage of the time.
class LayerSum {
 public:
  explicit LayerSum(const Roofline& roofline) : roofline_(roofline) {}
  void add(const KernelRow& kernel, bool self);
  // Fills every field that follows from kernels; time_share is left to the caller.
  void fill(LayerRow& row) const;
  [[nodiscard]] bool empty() const { return !added_; }

 private:
  struct Ratio {  // a ratio of sums over the kernels that have both
    double top = 0, bottom = 0, weight = 0;
    bool any = false;
  };
  [[nodiscard]] bool is_timed() const;  // whether nearly all of it is timed
  [[nodiscard]] Maybe ratio(const Ratio& ratio, double scale = 1) const;
  [[nodiscard]] Maybe intensity(const Ratio& timed, const Ratio& untimed) const;
  void add_time(const KernelRow& kernel, bool self);
  void add_time_again(const KernelRow& whole, bool self);
  void add_roof(const KernelRow& kernel, double weight);
  void fill_roof(LayerRow& row) const;

  const Roofline& roofline_;
  bool added_ = false;
  Maybe launches_;
  Maybe time_, time_self_;
  bool has_own_ = false;
  TimeSource time_source_ = TimeSource::unknown;
  Flops flops_;
  std::map<std::string, Maybe> ops_;
  Bytes bytes_;
  double timed_launches_ = 0, all_launches_ = 0;
  double flops_time_ = 0, bytes_time_ = 0;
  Ratio dram_, l2_, l1_, flops_rate_, bytes_rate_, roof_;
  Ratio dram_untimed_, l2_untimed_, l1_untimed_;  // of all kernels, by launches
  double roof_compute_ = 0, roof_memory_ = 0, communication_ = 0, small_ = 0;
  std::map<std::string, double> compute_ceilings_, memory_ceilings_;  // time under each ceiling
  std::map<std::string, MemoryLevel> levels_;
  Maybe saving_;
  SetMetricsSum metrics_;
};

// Sums kernels into their layers and the layers above: fills every field of report.layers that
// follows from report.kernels. A layer without kernels keeps a time of 0 (it only copied) or none.
void sum_layers(Report& report, const Roofline& roofline);

}  // namespace gable

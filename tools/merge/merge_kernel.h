// SPDX-License-Identifier: Apache-2.0
// The rows of one kernel as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/report.h"
#include "analysis/roofline/set_metrics.h"
#include "tools/merge/saving_bounds.h"

namespace gable {

// One kernel of several reports. Empty rows are not added.
class KernelMerge {
 public:
  void add(const KernelRow& row);
  // `gpus`: number of GPUs of the kind.
  [[nodiscard]] KernelRow result(double gpus) const;

 private:
  // Sum over rows of value x launches; known if every row has a value.
  struct Mean {
    double sum = 0;
    bool known = true;
    void add(const Maybe& value, double weight);
    [[nodiscard]] Maybe over(double weight) const;
  };
  // Each with the number of rows that have it.
  using Means = std::map<std::string, std::pair<Mean, std::size_t>>;
  void add_message(const std::optional<CollectiveRow>& message, double launches);
  static void add_all(Means& means, const std::map<std::string, Maybe>& values, double weight);
  void read(const Means& means, std::map<std::string, Maybe>& out) const;

  KernelRow first_;
  std::size_t rows_ = 0;
  double launches_ = 0;
  Mean time_, total_, overlap_, path_;
  SavingBounds saving_;
  Mean fp64_, fp32_, fp16_, flops_, dram_, read_, write_, l2_, l1_;
  Means tensor_, ops_, counters_;
  SetMetricsSum metrics_;
  Maybe min_, max_;
  double samples_ = 0, sample_sum_ = 0, sample_squares_ = 0;  // of durations
  bool spread_known_ = true;
  std::uint64_t hw_ = 0, flops_samples_ = 0, time_samples_ = 0;
  std::vector<std::string> flags_;
  std::optional<CollectiveRow> message_;  // kind, ranks and node, as far as all rows agree
  Mean message_bytes_, bus_bytes_, wait_, transfer_, others_wait_;
};

}  // namespace gable

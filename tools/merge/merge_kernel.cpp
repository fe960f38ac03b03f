// SPDX-License-Identifier: Apache-2.0
#include "tools/merge/merge_kernel.h"

#include <algorithm>
#include <cmath>

namespace gable {

void KernelMerge::Mean::add(const Maybe& value, double weight) {
  known = known && value.has_value();
  sum += value.value_or(0) * weight;
}

Maybe KernelMerge::Mean::over(double weight) const {
  return known && weight > 0 ? Maybe(sum / weight) : std::nullopt;
}

void KernelMerge::add_all(Means& means, const std::map<std::string, Maybe>& values, double weight) {
  for (const auto& [name, value] : values) {
    auto& [mean, rows] = means[name];
    mean.add(value, weight);
    ++rows;
  }
}

// A name that some row lacks is unknown there.
void KernelMerge::read(const Means& means, std::map<std::string, Maybe>& out) const {
  out.clear();
  for (const auto& [name, mean] : means)
    out[name] = mean.second == rows_ ? mean.first.over(launches_) : std::nullopt;
}

void KernelMerge::add_message(const std::optional<CollectiveRow>& message, double launches) {
  message_bytes_.add(message ? message->bytes : std::nullopt, launches);
  bus_bytes_.add(message ? message->bus_bytes : std::nullopt, launches);
  wait_.add(message ? message->wait_ns : std::nullopt, launches);
  transfer_.add(message ? message->transfer_ns : std::nullopt, launches);
  others_wait_.add(message ? message->others_wait_ns : std::nullopt, launches);
  if (!message) return;
  if (!message_) message_ = message;
  if (message_->kind != message->kind) message_->kind = Collective::unknown;
  if (message_->ranks != message->ranks) message_->ranks.reset();
  message_->one_node = message_->one_node && message->one_node;
}

void KernelMerge::add(const KernelRow& row) {
  if (rows_++ == 0) first_ = row;
  if (first_.place != row.place) first_.place.clear();
  add_message(row.collective, row.launches);
  const double n = row.launches;
  launches_ += n;
  time_.add(row.time_mean_ns, n);
  total_.add(row.time_total_ns, 1);
  overlap_.add(row.overlap, n);
  path_.add(row.path_ns, 1);
  saving_.add(row.step_saving);
  fp64_.add(row.flops.fp64, n);
  fp32_.add(row.flops.fp32, n);
  fp16_.add(row.flops.fp16, n);
  flops_.add(row.flops.total, n);
  dram_.add(row.bytes.dram, n);
  read_.add(row.bytes.dram_read, n);
  write_.add(row.bytes.dram_write, n);
  l2_.add(row.bytes.l2, n);
  l1_.add(row.bytes.l1, n);
  add_all(tensor_, row.flops.tensor, n);
  add_all(ops_, row.ops, n);
  add_all(counters_, row.counters, n);
  metrics_.add(row);
  min_ = rows_ == 1                ? row.time_min_ns
         : min_ && row.time_min_ns ? Maybe(std::min(*min_, *row.time_min_ns))
                                   : std::nullopt;
  max_ = rows_ == 1                ? row.time_max_ns
         : max_ && row.time_max_ns ? Maybe(std::max(*max_, *row.time_max_ns))
                                   : std::nullopt;
  const auto samples = static_cast<double>(row.samples_time);
  if (row.time_mean_ns && row.time_stddev_ns) {
    const double mean = *row.time_mean_ns, deviation = *row.time_stddev_ns;
    samples_ += samples;
    sample_sum_ += samples * mean;
    sample_squares_ += samples * (deviation * deviation + mean * mean);
  } else {
    spread_known_ = false;
  }
  hw_ += row.samples_hw;
  flops_samples_ += row.samples_flops;
  time_samples_ += row.samples_time;
  for (const std::string& flag : row.flags) {
    if (std::find(flags_.begin(), flags_.end(), flag) == flags_.end()) flags_.push_back(flag);
  }
}

KernelRow KernelMerge::result(double gpus) const {
  KernelRow row = first_;
  row.launches = launches_ / gpus;
  row.time_mean_ns = time_.over(launches_);
  row.time_total_ns = total_.over(gpus);
  if (rows_ > 1) row.time_median_ns.reset();  // medians cannot be merged
  row.path_ns = path_.over(gpus);             // each rank has a critical path of its own
  row.step_saving = saving_.of(gpus);
  row.time_min_ns = min_;
  row.time_max_ns = max_;
  row.time_stddev_ns.reset();
  if (spread_known_ && samples_ > 0) {
    const double mean = sample_sum_ / samples_;
    row.time_stddev_ns = std::sqrt(std::max(0.0, sample_squares_ / samples_ - mean * mean));
  }
  row.overlap = overlap_.over(launches_);
  row.flops.fp64 = fp64_.over(launches_);
  row.flops.fp32 = fp32_.over(launches_);
  row.flops.fp16 = fp16_.over(launches_);
  row.flops.total = flops_.over(launches_);
  read(tensor_, row.flops.tensor);
  read(ops_, row.ops);
  row.bytes = {dram_.over(launches_), read_.over(launches_), write_.over(launches_),
               l2_.over(launches_), l1_.over(launches_)};
  read(counters_, row.counters);
  row.metrics = metrics_.of_all();
  row.collective = message_;
  if (row.collective) {
    row.collective->bytes = message_bytes_.over(launches_);
    row.collective->bus_bytes = bus_bytes_.over(launches_);
    row.collective->wait_ns = wait_.over(launches_);
    row.collective->transfer_ns = transfer_.over(launches_);
    row.collective->others_wait_ns = others_wait_.over(launches_);
  }
  row.samples_hw = hw_;
  row.samples_flops = flops_samples_;
  row.samples_time = time_samples_;
  row.flags = flags_;
  std::erase(row.flags, "above_roof");  // found anew
  return row;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/layer_sum.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/base/units.h"
#include "analysis/events/collective.h"
#include "analysis/roofline/occupancy.h"
#include "analysis/roofline/work.h"

namespace gable {
namespace {

void add_part(Maybe& sum, const Maybe& part, double launches) {
  if (part) sum = sum.value_or(0) + *part * launches;
}

template <typename Map>
void add_parts(Map& sums, const Map& parts, double launches) {
  for (const auto& [type, part] : parts) add_part(sums[type], part, launches);
}

std::string largest(const std::map<std::string, double>& times) {
  const auto found = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return found == times.end() ? std::string() : found->first;
}

}  // namespace

void LayerSum::add(const KernelRow& kernel, bool self) {
  const double launches = kernel.launches;
  added_ = true;
  if (kernel.counts_again()) {
    add_time_again(kernel, self);
  } else {
    launches_ = launches_.value_or(0) + launches;
    all_launches_ += launches;
    if (kernel.time_mean_ns) {
      timed_launches_ += launches;
      add_time(kernel, self);
    }
    has_own_ = has_own_ || self;
  }
  add_part(flops_.fp64, kernel.flops.fp64, launches);
  add_part(flops_.fp32, kernel.flops.fp32, launches);
  add_part(flops_.fp16, kernel.flops.fp16, launches);
  add_parts(flops_.tensor, kernel.flops.tensor, launches);
  add_part(flops_.total, kernel.flops.total, launches);
  add_parts(ops_, kernel.ops, launches);
  add_part(bytes_.dram, kernel.bytes.dram, launches);
  add_part(bytes_.dram_read, kernel.bytes.dram_read, launches);
  add_part(bytes_.dram_write, kernel.bytes.dram_write, launches);
  add_part(bytes_.l2, kernel.bytes.l2, launches);
  add_part(bytes_.l1, kernel.bytes.l1, launches);

  const double time = kernel.time_total_ns.value_or(0);
  if (kernel.flops.total) flops_time_ += time;
  if (kernel.bytes.dram) bytes_time_ += time;
  const auto both = [&](Ratio& ratio, const Maybe& top, const Maybe& bottom) {
    if (!top || !bottom || !kernel.time_mean_ns) return;
    ratio.top += *top * launches;
    ratio.bottom += *bottom * launches;
    ratio.weight += time;
    ratio.any = true;
  };
  both(dram_, kernel.flops.total, kernel.bytes.dram);
  both(l2_, kernel.flops.total, kernel.bytes.l2);
  both(l1_, kernel.flops.total, kernel.bytes.l1);
  const auto untimed = [&](Ratio& ratio, const Maybe& bytes) {
    if (!kernel.flops.total || !bytes || kernel.counts_again()) return;
    ratio.top += *kernel.flops.total * launches;
    ratio.bottom += *bytes * launches;
    ratio.weight += launches;
    ratio.any = true;
  };
  untimed(dram_untimed_, kernel.bytes.dram);
  untimed(l2_untimed_, kernel.bytes.l2);
  untimed(l1_untimed_, kernel.bytes.l1);
  both(flops_rate_, kernel.flops.total, kernel.time_mean_ns);
  both(bytes_rate_, kernel.bytes.dram, kernel.time_mean_ns);
  add_roof(kernel, time);
  metrics_.add(kernel);
}

void LayerSum::add_time(const KernelRow& kernel, bool self) {
  if (time_source_ != TimeSource::hw) time_source_ = kernel.time_source;
  add_part(time_, kernel.time_total_ns, 1);
  if (self) add_part(time_self_, kernel.time_total_ns, 1);
}

// The kernels of a graph or a range have rows of their own, in this layer or below. Only where no
// time window saw them does its duration stand for theirs.
void LayerSum::add_time_again(const KernelRow& whole, bool self) {
  if (whole.time_source != TimeSource::hw) return;
  timed_launches_ += whole.launches * static_cast<double>(whole.nodes.value_or(1));
  has_own_ = has_own_ || self;
  add_time(whole, self);
}

void LayerSum::add_roof(const KernelRow& kernel, double time) {
  if (is_collective(kernel.name)) communication_ += time;
  if (kernel.has_flag(kSmallGrid)) small_ += time;
  const RoofTimes times = roofline_.times(kernel);
  if (!kernel.time_mean_ns) return;
  if (const Maybe least = least_ns(times, kernel))
    saving_ = saving_.value_or(0) + std::max(0.0, *kernel.time_mean_ns - *least) * kernel.launches;
  const Maybe least = times.min_ns();
  if (!least) return;
  roof_.top += *least * kernel.launches;
  roof_.bottom += time;
  roof_.weight += time;
  roof_.any = true;
  roof_compute_ += *times.compute_ns * kernel.launches;
  roof_memory_ += *times.memory_ns * kernel.launches;
  compute_ceilings_[times.compute_ceiling] += *times.compute_ns * kernel.launches;
  memory_ceilings_[times.memory_ceiling] += *times.memory_ns * kernel.launches;
  levels_[times.memory_ceiling] = times.memory_level;
}

bool LayerSum::is_timed() const {
  return time_ && timed_launches_ >= kFullCoverage * all_launches_;
}

Maybe LayerSum::ratio(const Ratio& ratio, double scale) const {
  if (!ratio.any || ratio.bottom <= 0 || !is_timed()) return std::nullopt;
  if (ratio.weight < kFullCoverage * *time_) return std::nullopt;
  return ratio.top / ratio.bottom * scale;
}

// Work divided by work needs no time; where there is none, launches say how much of it is known.
Maybe LayerSum::intensity(const Ratio& timed, const Ratio& untimed) const {
  if (time_) return ratio(timed);
  if (!untimed.any || untimed.bottom <= 0 || untimed.weight < kFullCoverage * all_launches_)
    return std::nullopt;
  return untimed.top / untimed.bottom;
}

void LayerSum::fill(LayerRow& row) const {
  row.launches = launches_;
  row.time_total_ns = time_;
  row.time_source = time_source_;
  row.time_self_ns =
      has_own_ ? time_self_
               : Maybe(0.0);  // all its kernels are in its children: it did nothing itself
  row.flops = flops_;
  row.ops = ops_;
  row.bytes = bytes_;
  row.intensity = {intensity(dram_, dram_untimed_), intensity(l2_, l2_untimed_),
                   intensity(l1_, l1_untimed_)};
  row.flops_per_s = ratio(flops_rate_, kNsPerSecond);
  row.bytes_per_s = ratio(bytes_rate_, kNsPerSecond);
  if (all_launches_ > 0) row.coverage.time = timed_launches_ / all_launches_;
  if (time_ && *time_ > 0) {
    row.coverage.flops = flops_time_ / *time_;
    row.coverage.bytes = bytes_time_ / *time_;
  }
  row.saving_ns = saving_;
  row.metrics = is_timed() ? metrics_.of_time(kFullCoverage * *time_) : std::nullopt;
  fill_roof(row);
}

void LayerSum::fill_roof(LayerRow& row) const {
  Roof& roof = row.roof;
  roof = Roof{};
  roof.fraction = ratio(roof_);
  const bool memory = roof_memory_ >= roof_compute_;
  if (roof.fraction) {
    roof.compute_ns = roof_compute_;
    roof.memory_ns = roof_memory_;
    roof.ceiling = largest(memory ? memory_ceilings_ : compute_ceilings_);
    if (memory && levels_.contains(roof.ceiling)) roof.level = levels_.at(roof.ceiling);
    roof.source = roofline_.source(row.device, roof.ceiling);
  }
  Maybe launch;
  if (time_ && timed_launches_ > 0) launch = *time_ / timed_launches_;
  const SetMetrics metrics = row.metrics.value_or(SetMetrics());
  roof.bound = bound_of({.communicates = time_ && communication_ > *time_ / 2,
                         .launch_ns = launch,
                         .latency_ns = roofline_.launch_latency_ns(),
                         .fraction = roof.fraction,
                         .small = time_ && small_ > *time_ / 2,
                         .memory = memory,
                         .compute_throughput = metrics.compute_throughput,
                         .memory_throughput = metrics.memory_throughput});
}

void sum_layers(Report& report, const Roofline& roofline) {
  std::vector<LayerSum> sums(report.layers.size(), LayerSum(roofline));
  std::unordered_map<std::int64_t, std::size_t> places;
  for (std::size_t i = 0; i < report.layers.size(); ++i) places[report.layers[i].id] = i;
  for (const KernelRow& kernel : report.kernels) {
    bool self = true;
    std::size_t left = report.layers.size();  // parents come from files: a cycle must end
    for (auto at = places.find(kernel.layer); at != places.end() && left > 0; --left) {
      sums[at->second].add(kernel, self);
      self = false;
      const auto& parent = report.layers[at->second].parent;
      if (!parent) break;
      at = places.find(*parent);
    }
  }
  Maybe whole;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    LayerRow& row = report.layers[i];
    const bool nothing_ran = sums[i].empty() && row.time_total_ns == 0.0;
    sums[i].fill(row);
    if (nothing_ran) row.launches = row.time_total_ns = 0;
    if (row.depth == 0) whole = row.time_total_ns;
    row.time_share = row.time_total_ns && whole && *whole > 0 ? Maybe(*row.time_total_ns / *whole)
                                                              : std::nullopt;
  }
}

}  // namespace gable

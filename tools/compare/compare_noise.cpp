// SPDX-License-Identifier: Apache-2.0
#include "tools/compare/compare_noise.h"

#include <cmath>

#include "analysis/report/layers_by_id.h"

namespace gable {

Maybe standard_error_ns(const KernelRow& kernel) {
  if (!kernel.time_stddev_ns || kernel.samples_time < 2) return std::nullopt;
  return kernel.launches * *kernel.time_stddev_ns /
         std::sqrt(static_cast<double>(kernel.samples_time));
}

Maybe noise_of(const Maybe& a, const Maybe& b) {
  if (!a || !b) return std::nullopt;
  return 2 * std::sqrt(*a * *a + *b * *b);
}

void LayerErrors::Sum::add(const Maybe& error) {
  known = known && error.has_value();
  ns += error.value_or(0);
}

LayerErrors::LayerErrors(const Report& report) {
  const LayersById layers(report);
  for (const KernelRow& kernel : report.kernels) {
    if (kernel.counts_again()) continue;
    const Maybe error = standard_error_ns(kernel);
    own_[kernel.layer].add(error);
    // Parents come from files: a cycle in them must end.
    std::size_t left = report.layers.size();
    for (const LayerRow* at = layers.find(kernel.layer); at != nullptr && left > 0; --left) {
      all_[at->id].add(error);
      at = at->parent ? layers.find(*at->parent) : nullptr;
    }
  }
}

Maybe LayerErrors::find(const std::map<std::int64_t, Sum>& sums, std::int64_t layer) {
  const auto found = sums.find(layer);
  if (found == sums.end() || !found->second.known) return std::nullopt;
  return found->second.ns;
}

}  // namespace gable

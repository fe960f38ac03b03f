// SPDX-License-Identifier: Apache-2.0
// A report made up of few numbers: roofs of 1000 FLOP and 100 byte in a ns, layers below a root.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "analysis/roofline/layer_sum.h"
#include "analysis/roofline/roofline.h"

namespace gable::tests {

class MadeReport {
 public:
  Report report;

  MadeReport() {
    report.run.unit = Unit::step;
    report.run.source = Source::playback;
    report.run.complete = true;
    DeviceInfo device;
    device.name = "GPU";
    device.sm_count = 100;
    report.devices = {device};
    report.ceilings = {{0, CeilingKind::compute, "fp32", 1e12, "theoretical"},
                       {0, CeilingKind::memory, "dram", 1e11, "theoretical"}};
    add_layer({});
  }
  // In the layer before it whose path it continues; else below the root.
  std::int64_t add_layer(const std::vector<std::string>& path,
                         Direction direction = Direction::none) {
    LayerRow row;
    row.id = static_cast<std::int64_t>(report.layers.size());
    row.path = path;
    row.direction = direction;
    row.depth = static_cast<int>(path.size());
    for (const LayerRow& other : report.layers) {
      if (other.path.size() + 1 == path.size() &&
          std::equal(other.path.begin(), other.path.end(), path.begin()))
        row.parent = other.id;
    }
    report.layers.push_back(row);
    return row.id;
  }
  KernelRow& add_kernel(std::int64_t layer, const std::string& name, double time_ns, double flop,
                        double bytes, double launches = 1) {
    KernelRow row;
    row.layer = layer;
    row.direction = report.layers[static_cast<std::size_t>(layer)].direction;
    row.name = name;
    row.launches = launches;
    row.grid = row.block = {1, 1, 1};
    row.time_mean_ns = time_ns;
    row.time_total_ns = time_ns * launches;
    row.time_source = TimeSource::time;
    row.flops.fp32 = row.flops.total = flop;
    row.bytes.dram = bytes;
    return report.kernels.emplace_back(row);
  }
  // With roofs, and layers as sums of their kernels.
  Report done() {
    const Roofline roofline(report.ceilings, report.step.launch_latency_ns);
    for (KernelRow& row : report.kernels) roofline.apply(row);
    sum_layers(report, roofline);
    return report;
  }
};

}  // namespace gable::tests

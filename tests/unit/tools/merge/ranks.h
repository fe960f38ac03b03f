// SPDX-License-Identifier: Apache-2.0
// Reports of ranks that can be merged.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/merge/merge.h"

namespace gable::tests {

// Rank `rank` on a GPU of its own: a root, a layer in it, a kernel and a copy in that layer.
inline Report rank_of(std::int64_t rank, double kernel_ns, double copies) {
  Report report;
  report.run.rank = rank;
  report.run.pid = 100 + rank;
  report.run.hostname = "node";
  report.run.unit = Unit::step;
  report.run.source = Source::playback;
  DeviceInfo device;
  device.name = "GPU";
  device.sm_count = 100;
  report.devices = {device};
  for (const int depth : {0, 1}) {
    LayerRow& row = report.layers.emplace_back();
    row.id = depth;
    if (depth > 0) row.parent = 0, row.path = {"net"};
    row.direction = Direction::none;
    row.depth = depth;
    row.calls = 2 + rank;
    row.span_ns = 100.0 * static_cast<double>(1 + rank);
    row.sync_ns = 10.0 * static_cast<double>(rank);
    row.time_total_ns = kernel_ns * 2;
    row.launches = 2;
  }
  KernelRow& kernel = report.kernels.emplace_back();
  kernel.layer = 1;
  kernel.name = "k";
  kernel.direction = Direction::none;
  kernel.launches = 2;
  kernel.time_mean_ns = kernel_ns;
  kernel.time_total_ns = kernel_ns * 2;
  kernel.time_source = TimeSource::time;
  CopyRow& copy = report.copies.emplace_back();
  copy.kind = CopyKind::host_to_device;
  copy.direction = Direction::none;
  copy.layer = 1;
  copy.count = copies;
  copy.bytes = copies * 1000;
  copy.time_ns = copies * 50;
  return report;
}

inline Report merged(const std::vector<Report>& reports) {
  std::vector<std::string> names;
  names.reserve(reports.size());
  for (std::size_t i = 0; i < reports.size(); ++i) names.push_back(std::to_string(i) + ".json");
  const auto result = merge_reports(reports, names);
  EXPECT_EQ(result.error, "");
  return result.report.value_or(Report{});
}

}  // namespace gable::tests

// SPDX-License-Identifier: Apache-2.0
// A step of 1 ms on a GPU of round roofs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/roofline/occupancy.h"
#include "analysis/roofline/roofline.h"
#include "tools/advice/advice.h"

namespace gable::tests {

inline constexpr double kFp32 = 1e14, kTf32 = 4e14, kBf16 = 8e14, kDram = 2e12;
inline constexpr double kLatency = 4000;

class AdviceTest : public ::testing::Test {
 protected:
  Report report;

  AdviceTest() {
    report.run.unit = Unit::step;
    report.step.wall_mean_ns = 1e6;
    report.step.idle_ns = 0;
    report.step.launch_latency_ns = kLatency;
    report.ceilings = {{0, CeilingKind::compute, "fp32", kFp32, "theoretical: made up"},
                       {0, CeilingKind::compute, "tf32_tensor", kTf32, "theoretical: made up"},
                       {0, CeilingKind::compute, "bf16_tensor", kBf16, "theoretical: made up"},
                       {0, CeilingKind::memory, "dram", kDram, "theoretical: made up"}};
    DeviceInfo device;
    device.sm_count = 100;
    report.devices = {device};
    layer({"net"});
  }

  std::int64_t layer(std::vector<std::string> path) {
    LayerRow& row = report.layers.emplace_back();
    row.id = static_cast<std::int64_t>(report.layers.size()) - 1;
    row.depth = static_cast<int>(path.size());
    row.path = std::move(path);
    row.direction = Direction::none;
    return row.id;
  }

  // A kernel whose work takes these ns at the roofs, and `time` ns in all its launches.
  KernelRow& kernel(const std::string& name, double compute_ns, double memory_ns, double time,
                    const std::string& type = "fp32", double launches = 1) {
    KernelRow& row = report.kernels.emplace_back();
    row.layer = report.layers.back().id;
    row.direction = Direction::none;
    row.name = name;
    row.launches = launches;
    row.grid = {8, 1, 1};
    row.block = {128, 1, 1};
    const double roof = type == "fp32" ? kFp32 : type == "tf32" ? kTf32 : kBf16;
    const double flops = compute_ns * 1e-9 * roof / launches;
    row.flops = {0, 0, 0, {}, flops};
    if (type == "fp32") {
      row.flops.fp32 = flops;
    } else {
      row.flops.tensor[type] = flops;
    }
    row.bytes.dram = memory_ns * 1e-9 * kDram / launches;
    row.time_mean_ns = time / launches;
    row.time_total_ns = time;
    row.time_source = TimeSource::time;
    fill_waves(report.devices[0], row);
    Roofline(report.ceilings, kLatency).apply(row);
    return row;
  }

  const Advice* given(const std::string& id) {
    all_ = advise(report);
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const Advice& each) { return each.id == id; });
    return found == all_.end() ? nullptr : &*found;
  }
  std::vector<std::string> ids() {
    std::vector<std::string> names;
    for (const Advice& each : advise(report)) names.push_back(each.id);
    return names;
  }

 private:
  std::vector<Advice> all_;
};

}  // namespace gable::tests

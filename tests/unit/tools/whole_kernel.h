// SPDX-License-Identifier: Apache-2.0
// A report of one kernel of which everything is known.
#pragma once

#include "tests/unit/tools/made_report.h"

namespace gable::tests {

// Two launches of 10 ns: 5 ns of compute and 4 ns of memory each.
inline MadeReport one_kernel() {
  MadeReport made;
  const auto layer = made.add_layer({"net"}, Direction::forward);
  KernelRow& kernel = made.add_kernel(layer, "gemm", 10, 5000, 400, 2);
  kernel.bytes.l2 = 800;
  kernel.bytes.l1 = 1600;
  kernel.path_ns = 7;
  kernel.step_saving = StepSaving{3, 4};
  kernel.place = "kernels.py:12";
  kernel.grid = {8, 4, 2};
  kernel.block = {128, 3, 5};
  kernel.flags = {"hfma_moves", "launches_differ"};
  kernel.registers = 41;
  kernel.shared_bytes = 42;
  kernel.blocks_per_sm = 43;
  kernel.waves = 0.5;
  kernel.time_median_ns = 9;
  kernel.time_stddev_ns = 1.5;
  kernel.samples_hw = 31;
  kernel.samples_flops = 32;
  kernel.samples_time = 33;
  kernel.metrics.emplace().occupancy = 0.5;
  made.report.layers[1].step_saving_self = StepSaving{1, 2};
  return made;
}

}  // namespace gable::tests

// SPDX-License-Identifier: Apache-2.0
// A report of one layer whose work is known by a formula alone.
#pragma once

#include "tests/unit/tools/made_report.h"

namespace gable::tests {

// Of its 100 ns, compute needs 25 and memory 10.
inline Report work_by_formula() {
  MadeReport made;
  KernelRow& kernel = made.add_kernel(made.add_layer({"net"}), "k", 100, 0, 0);
  kernel.flops = {};
  kernel.bytes = {};
  Report report = made.done();
  LayerModel& model = report.layers[1].model.emplace();
  model.self.flops = 25000;
  model.self.bytes = 1000;
  model.self.types["fp32"] = 25000;
  model.bytes_per_s = 1e10;
  return report;
}

}  // namespace gable::tests

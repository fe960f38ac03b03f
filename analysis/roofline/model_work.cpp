// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/model_work.h"

#include "analysis/roofline/partial_sum.h"

namespace gable {

KernelRow kernel_of_model(const Roofline& roofline, const LayerModel::Part& own,
                          const LayerRow& layer) {
  KernelRow kernel;
  kernel.device = layer.device;
  kernel.launches = 1;
  if (covers(layer.coverage.time) || layer.time_self_ns == 0.0)
    kernel.time_mean_ns = kernel.time_total_ns = layer.time_self_ns;
  kernel.time_source = layer.time_source;
  kernel.bytes.dram = own.bytes;
  kernel.flops.total = own.flops;
  for (const auto& [type, flops] : own.types) {
    if (roofline.ceiling(layer.device, type + "_tensor")) {
      kernel.flops.tensor[type] = flops;
    } else if (type == "fp64") {
      kernel.flops.fp64 = flops;
    } else if (type == "fp16") {
      kernel.flops.fp16 = flops;
    } else if (type == "fp32" || type == "tf32") {
      kernel.flops.fp32 = kernel.flops.fp32.value_or(0) + flops.value_or(0);
    } else {
      kernel.flops.tensor[type] = flops;  // no roof is known: none is given
    }
  }
  return kernel;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Work under the published roofs of other GPUs (gpu_catalogue.h). Nothing here was measured there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.h"
#include "tools/gpus/gpu_catalogue.h"
#include "tools/predict/described_models.h"

namespace gable {

// The report as it would be on that GPU:
//   least time there = max(FLOP / peak, DRAM bytes / bandwidth), by the rules of roofline.h
//   time there       = time here x least time there / least time here
// so each kernel keeps its fraction of the roof. Both least times are under compute roofs and
// DRAM's alone. Kernels that launch latency or communication holds here keep their time. What has
// no roof there or here is unknown. `precision` (may be empty): FP32, FP16 and tensor-core FLOPs
// are counted as if done in that type; bytes stay as they are. The source is "predicted".
[[nodiscard]] Report predicted_report(const Report& report, const GpuSpec& gpu,
                                      const std::string& precision);

struct PredictOptions {
  std::string precision = "fp16";
  double efficiency = 1;   // of compute peaks, 0 to 1
  double overhead_ns = 0;  // added once
};

// time = overhead + sum over layers of max(FLOP / (peak x efficiency), bytes / bandwidth)
// bytes of a layer = size of an element x (weights + batch x (inputs + outputs))
struct Prediction {
  std::uint64_t batch = 1;
  Maybe latency_ns, per_second;  // samples per second
  double flops = 0, bytes = 0;   // of the batch
  Maybe compute_ns, memory_ns;   // sums over layers
  std::string bottleneck;        // "compute" | "memory": the larger sum; "unknown"
  Maybe flops_per_s;
  bool fits = true;  // weights and the largest layer's values are within the memory
};

// Size of an element in bytes; 0 where there is no such precision.
[[nodiscard]] double element_bytes(std::string_view precision);

[[nodiscard]] Prediction predict(const DescribedModel& model, const GpuSpec& gpu,
                                 std::uint64_t batch, const PredictOptions& options);
// FLOP and bytes as they are given.
[[nodiscard]] Prediction predict(double flops, double bytes, const GpuSpec& gpu,
                                 const PredictOptions& options);
// FLOP/byte where both roofs meet.
[[nodiscard]] Maybe ridge_point(const GpuSpec& gpu, const PredictOptions& options);

// The smallest batch from 2 to 65,536 whose bottleneck is another than at 1; 0 where none is.
[[nodiscard]] std::uint64_t batch_of_change(const DescribedModel& model, const GpuSpec& gpu,
                                            const PredictOptions& options);

// Predictions of a model as a report, for the page: a layer for each batch, kernels are the model's
// layers.
[[nodiscard]] Report model_report(const DescribedModel& model, const GpuSpec& gpu,
                                  const std::vector<std::uint64_t>& batches,
                                  const PredictOptions& options);

}  // namespace gable

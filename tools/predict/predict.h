// SPDX-License-Identifier: Apache-2.0
// Predicts work under the published roofs of other GPUs (gpu_catalogue.h), without measuring there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/report.h"
#include "tools/gpus/gpu_catalogue.h"
#include "tools/predict/described_models.h"

namespace gable {

// The report as it would be on that GPU, by the rules of scaling.h and docs/predict.md. What has no
// roof there or here is unknown; where nothing was counted of a layer, its operators' formulas
// stand in. Onto the GPU that it is of, by the catalogue, every time stays. `precision` (may be
// empty): matrix kernels compute in that type, and all elements have its size. The source is
// "predicted".
[[nodiscard]] Report predicted_report(const Report& report, const GpuSpec& gpu,
                                      const std::string& precision);

// The GPUs that a report's kernels ran on, as the driver and the catalogue name them.
[[nodiscard]] std::string starting_gpu(const Report& report);

// Size of an element in bytes; 0 where there is no such precision.
[[nodiscard]] double element_bytes(std::string_view precision);

struct PredictOptions {
  std::string precision = "fp16";
  bool training = false;   // forward and backward, which does twice the forward's work
  double efficiency = 1;   // share of compute peaks reached, 0 to 1
  double overhead_ns = 0;  // added once
};

// time = overhead + sum over layers of max(FLOP / (peak x efficiency), bytes / bandwidth)
// bytes of a layer = size of an element x (weights + batch x (inputs + outputs))
// Training takes three times both.
struct Prediction {
  std::uint64_t batch = 1;
  Maybe latency_ns, per_second;  // samples per second
  double flops = 0, bytes = 0;   // of the batch
  Maybe compute_ns, memory_ns;   // sums over layers
  std::string bottleneck;        // "compute" | "memory": the larger sum; "unknown"
  Maybe flops_per_s;
  // What must lie in the GPU's memory, and whether it does. To infer: weights, K and V of all
  // layers and all tokens, and the largest layer's values. To train: 16 byte a parameter and the
  // values that the backward needs.
  Maybe memory_bytes;
  bool fits = true;
};

[[nodiscard]] Prediction predict(const DescribedModel& model, const GpuSpec& gpu,
                                 std::uint64_t batch, const PredictOptions& options);
[[nodiscard]] double memory_needed(const DescribedModel& model, std::uint64_t batch,
                                   const PredictOptions& options);
// Predicts from given FLOP and bytes.
[[nodiscard]] Prediction predict(double flops, double bytes, const GpuSpec& gpu,
                                 const PredictOptions& options);
// Intensity in FLOP/byte at which both roofs meet.
[[nodiscard]] Maybe ridge_point(const GpuSpec& gpu, const PredictOptions& options);

// The smallest batch from 2 to 65,536 whose bottleneck differs from that of batch 1; 0 if none.
[[nodiscard]] std::uint64_t batch_of_change(const DescribedModel& model, const GpuSpec& gpu,
                                            const PredictOptions& options);

// Predictions of a model as a report, for the page: a layer for each batch, kernels are the model's
// layers.
[[nodiscard]] Report model_report(const DescribedModel& model, const GpuSpec& gpu,
                                  const std::vector<std::uint64_t>& batches,
                                  const PredictOptions& options);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "tools/predict/predict.h"

#include <algorithm>

#include "analysis/base/units.h"
#include "analysis/roofline/ceilings.h"
#include "analysis/roofline/layer_sum.h"
#include "analysis/roofline/roofline.h"
#include "tools/predict/scaling.h"

namespace gable {
namespace {

constexpr std::uint64_t kMostBatch = 65536;
// The backward multiplies twice where the forward does once: for the inputs and for the weights.
constexpr double kPassesOfTraining = 3;

void finish(Prediction& out) {
  out.bottleneck = !out.compute_ns || !out.memory_ns  ? "unknown"
                   : *out.compute_ns > *out.memory_ns ? "compute"
                                                      : "memory";
  if (!out.latency_ns || *out.latency_ns <= 0) return;
  out.per_second = static_cast<double>(out.batch) / *out.latency_ns * kNsPerSecond;
  out.flops_per_s = out.flops / *out.latency_ns * kNsPerSecond;
}

struct Roofs {
  Maybe compute, memory;  // per ns
  Roofs(const GpuSpec& gpu, const PredictOptions& options) {
    if (const Maybe peak = peak_of(gpu, options.precision))
      compute = *peak * options.efficiency / kNsPerSecond;
    if (gpu.dram > 0) memory = gpu.dram * kGiga / kNsPerSecond;
  }
};

}  // namespace

Maybe ridge_point(const GpuSpec& gpu, const PredictOptions& options) {
  const Roofs roofs(gpu, options);
  return roofs.compute && roofs.memory ? Maybe(*roofs.compute / *roofs.memory) : std::nullopt;
}

Prediction predict(double flops, double bytes, const GpuSpec& gpu, const PredictOptions& options) {
  const Roofs roofs(gpu, options);
  Prediction out;
  out.flops = flops;
  out.bytes = bytes;
  if (roofs.compute) out.compute_ns = flops / *roofs.compute;
  if (roofs.memory) out.memory_ns = bytes / *roofs.memory;
  if (out.compute_ns && out.memory_ns)
    out.latency_ns = options.overhead_ns + std::max(*out.compute_ns, *out.memory_ns);
  finish(out);
  return out;
}

double memory_needed(const DescribedModel& model, std::uint64_t batch,
                     const PredictOptions& options) {
  const double size = element_bytes(options.precision), samples = static_cast<double>(batch);
  double cached = 0, kept = 0, largest = 0;
  for (const ModelLayer& layer : model.layers) {
    cached += layer.repeats * layer.cached;
    // Each layer's output is the next one's input.
    kept += layer.repeats * layer.values / 2;
    largest = std::max(largest, layer.values - layer.cached);
  }
  // Weights and gradients of 2 byte, and weights, momentum and variance of 4.
  constexpr double kTrainedParameter = 2 + 2 + 4 + 4 + 4;
  return options.training ? kTrainedParameter * model.parameters + size * samples * kept
                          : size * (model.parameters + samples * (cached + largest));
}

Prediction predict(const DescribedModel& model, const GpuSpec& gpu, std::uint64_t batch,
                   const PredictOptions& options) {
  const double size = element_bytes(options.precision), samples = static_cast<double>(batch);
  const double passes = options.training ? kPassesOfTraining : 1;
  Prediction out;
  out.batch = batch;
  double latency = options.overhead_ns, compute = 0, memory = 0;
  bool known = true;
  PredictOptions alone = options;
  alone.overhead_ns = 0;
  for (const ModelLayer& layer : model.layers) {
    const double repeats = layer.repeats * passes;
    const Prediction one =
        predict(layer.flops * samples, size * (layer.weights + samples * layer.values), gpu, alone);
    known = known && one.latency_ns.has_value();
    latency += repeats * one.latency_ns.value_or(0);
    compute += repeats * one.compute_ns.value_or(0);
    memory += repeats * one.memory_ns.value_or(0);
    out.flops += repeats * one.flops;
    out.bytes += repeats * one.bytes;
  }
  if (known) {
    out.latency_ns = latency;
    out.compute_ns = compute;
    out.memory_ns = memory;
  }
  out.memory_bytes = memory_needed(model, batch, options);
  out.fits = gpu.memory_gb <= 0 || *out.memory_bytes <= gpu.memory_gb * kGiga;
  finish(out);
  return out;
}

std::uint64_t batch_of_change(const DescribedModel& model, const GpuSpec& gpu,
                              const PredictOptions& options) {
  const std::string first = predict(model, gpu, 1, options).bottleneck;
  const auto changed = [&](std::uint64_t batch) {
    return predict(model, gpu, batch, options).bottleneck != first;
  };
  // FLOPs grow with the batch and bytes more slowly, so it changes once at most.
  if (!changed(kMostBatch)) return 0;
  std::uint64_t low = 1, high = kMostBatch;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (changed(middle) ? high : low) = middle;
  }
  return high;
}

Report model_report(const DescribedModel& model, const GpuSpec& gpu,
                    const std::vector<std::uint64_t>& batches, const PredictOptions& options) {
  Report out;
  out.version = GABLE_VERSION;
  out.run.command = {"gable", "predict", "--model", model.name};
  out.run.source = Source::predicted;
  out.run.complete = true;
  out.run.total.basis = Basis::extrapolated;
  out.run.total.basis_note =
      "by formula, for " + gpu.name + " in " + options.precision + "; nothing ran";
  out.run.notes = {out.run.total.basis_note + "."};
  DeviceInfo device;
  device.name = gpu.name;
  out.devices = {device};
  out.ceilings = ceilings_of(gpu, 0);
  const Roofline roofline(out.ceilings);
  const auto layer = [&](std::vector<std::string> path, std::optional<std::int64_t> parent) {
    LayerRow& row = out.layers.emplace_back();
    row.id = static_cast<std::int64_t>(out.layers.size()) - 1;
    row.parent = parent;
    row.depth = static_cast<int>(path.size());
    row.path = std::move(path);
    row.direction = Direction::none;
    return row.id;
  };
  const double size = element_bytes(options.precision);
  const std::int64_t root = layer({}, std::nullopt);
  for (const std::uint64_t batch : batches) {
    const std::string name = "batch " + std::to_string(batch);
    const std::int64_t parent = layer({name}, root);
    const double samples = static_cast<double>(batch);
    for (const ModelLayer& of : model.layers) {
      KernelRow& row = out.kernels.emplace_back();
      row.layer = layer({name, of.name}, parent);
      row.direction = Direction::none;
      row.name = of.name;
      row.launches = of.repeats * (options.training ? kPassesOfTraining : 1);
      row.flops.fp64 = row.flops.fp32 = row.flops.fp16 = 0;
      row.flops.total = of.flops * samples;
      if (options.precision == "fp32") {
        row.flops.fp32 = row.flops.total;
      } else {
        row.flops.tensor[options.precision] = row.flops.total;
      }
      row.bytes.dram = size * (of.weights + samples * of.values);
      PredictOptions alone = options;
      alone.overhead_ns = 0;
      row.time_mean_ns = predict(*row.flops.total, *row.bytes.dram, gpu, alone).latency_ns;
      if (row.time_mean_ns) row.time_total_ns = *row.time_mean_ns * row.launches;
      row.time_source = TimeSource::time;
      roofline.apply(row);
    }
  }
  sum_layers(out, roofline);
  return out;
}

}  // namespace gable

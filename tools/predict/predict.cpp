// SPDX-License-Identifier: Apache-2.0
#include "tools/predict/predict.h"

#include <algorithm>

#include "analysis/roofline/ceilings.h"
#include "analysis/roofline/layer_sum.h"
#include "analysis/roofline/roofline.h"

namespace gable {
namespace {

constexpr double kNsPerSecond = 1e9, kGiga = 1e9;
constexpr std::uint64_t kMostBatch = 65536;

void change_precision(KernelRow& kernel, const std::string& precision) {
  Flops& flops = kernel.flops;
  if (!flops.total) return;
  double moved = flops.fp32.value_or(0) + flops.fp16.value_or(0);
  flops.fp32 = flops.fp16 = 0;
  for (auto& [type, value] : flops.tensor) {
    if (type == "fp64") continue;
    moved += value.value_or(0);
    value = 0;
  }
  if (precision == "fp32") {
    flops.fp32 = moved;
  } else if (precision == "fp64") {
    flops.fp64 = flops.fp64.value_or(0) + moved;
  } else {
    flops.tensor[precision] = moved;
  }
}

// DRAM and compute roofs only: of caches the catalogue has no peaks.
std::vector<Ceiling> without_caches(const std::vector<Ceiling>& ceilings) {
  std::vector<Ceiling> out;
  for (const Ceiling& each : ceilings) {
    if (each.kind == CeilingKind::compute || each.name == "dram") out.push_back(each);
  }
  return out;
}

void scale(KernelRow& row, const Maybe& factor) {
  const auto times = [&](Maybe& value) {
    value = value && factor ? Maybe(*value * *factor) : std::nullopt;
  };
  for (Maybe* value : {&row.time_mean_ns, &row.time_median_ns, &row.time_min_ns, &row.time_max_ns,
                       &row.time_stddev_ns, &row.time_total_ns})
    times(*value);
  if (!factor) row.time_source = TimeSource::unknown;
}

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

double element_bytes(std::string_view precision) {
  if (precision == "fp64") return 8;
  if (precision == "fp32" || precision == "tf32") return 4;
  if (precision == "bf16" || precision == "fp16") return 2;
  if (precision == "fp8" || precision == "int8") return 1;
  return 0;
}

Report predicted_report(const Report& report, const GpuSpec& gpu, const std::string& precision) {
  Report out = report;
  out.run.source = Source::predicted;
  out.ceilings.clear();
  out.sm_clock_measured_hz.clear();
  for (DeviceInfo& device : out.devices) {
    DeviceInfo there;
    there.id = device.id;
    there.name = std::string(gpu.name);
    device = std::move(there);
    for (Ceiling& ceiling : ceilings_of(gpu, device.id)) out.ceilings.push_back(std::move(ceiling));
  }
  const Roofline here(without_caches(report.ceilings));
  const Roofline there(out.ceilings, report.step.launch_latency_ns);
  for (std::size_t i = 0; i < out.kernels.size(); ++i) {
    KernelRow& row = out.kernels[i];
    const Roof& held = report.kernels[i].roof;
    const bool stays = is_beside_roofs(held.bound);
    const Maybe before = here.times(report.kernels[i]).min_ns();
    if (!precision.empty()) change_precision(row, precision);
    const Maybe after = there.times(row).min_ns();
    Maybe factor;
    if (stays) {
      factor = 1;
    } else if (before && after && *before > 0) {
      factor = *after / *before;
    }
    scale(row, factor);
    std::erase(row.flags, "above_roof");
    row.counters.clear();
    there.apply(row);
  }
  sum_layers(out, there);
  for (LayerRow& row : out.layers) {
    row.time_busy_ns = row.cpu_ns = row.span_ns = row.sync_ns = std::nullopt;
    row.model.reset();
    row.tokens.reset();
    row.spread.reset();
  }
  out.step = {};
  out.step.launch_latency_ns = report.step.launch_latency_ns;
  out.run.total = {};
  out.run.total.basis = Basis::extrapolated;
  out.run.total.basis_note =
      "predicted for " + std::string(gpu.name) + ": every kernel keeps its fraction of the roof";
  out.run.notes = {out.run.total.basis_note + "; nothing was measured there."};
  for (CopyRow& copy : out.copies) copy.time_ns.reset();
  return out;
}

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

Prediction predict(const DescribedModel& model, const GpuSpec& gpu, std::uint64_t batch,
                   const PredictOptions& options) {
  const double size = element_bytes(options.precision), samples = static_cast<double>(batch);
  Prediction out;
  out.batch = batch;
  double latency = options.overhead_ns, compute = 0, memory = 0, largest = 0, weights = 0;
  bool known = true;
  PredictOptions alone = options;
  alone.overhead_ns = 0;
  for (const ModelLayer& layer : model.layers) {
    const double repeats = layer.repeats;
    const Prediction one =
        predict(layer.flops * samples, size * (layer.weights + samples * layer.values), gpu, alone);
    known = known && one.latency_ns.has_value();
    latency += repeats * one.latency_ns.value_or(0);
    compute += repeats * one.compute_ns.value_or(0);
    memory += repeats * one.memory_ns.value_or(0);
    out.flops += repeats * one.flops;
    out.bytes += repeats * one.bytes;
    weights += repeats * size * layer.weights;
    largest = std::max(largest, size * samples * layer.values);
  }
  if (known) {
    out.latency_ns = latency;
    out.compute_ns = compute;
    out.memory_ns = memory;
  }
  out.fits = gpu.memory_gb <= 0 || weights + largest <= gpu.memory_gb * kGiga;
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
      "by formula, for " + std::string(gpu.name) + " in " + options.precision + "; nothing ran";
  out.run.notes = {out.run.total.basis_note + "."};
  DeviceInfo device;
  device.name = std::string(gpu.name);
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
      row.launches = of.repeats;
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

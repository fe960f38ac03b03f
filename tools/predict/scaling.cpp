// SPDX-License-Identifier: Apache-2.0
#include "tools/predict/scaling.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "analysis/base/units.h"
#include "analysis/report/layers_by_id.h"
#include "analysis/roofline/ceilings.h"
#include "tools/plot/matrix_kernel.h"
#include "tools/plot/plot.h"

namespace gable {
namespace {

bool is_of_use(const Ceiling& ceiling, std::int32_t device) {
  return ceiling.device == device && ceiling.clock != SmClock::measured &&
         (ceiling.kind == CeilingKind::compute || ceiling.name == "dram");
}

// The share of the SMs that have a block.
double used_share(double blocks, double sm_count) { return std::min(1.0, blocks / sm_count); }

// Of most FLOPs, whichever unit does them: "fp32", "bf16" …; empty without a FLOP.
std::string type_of(const Flops& flops) {
  const std::string ceiling = precision_of(flops);
  return ceiling.substr(0, ceiling.find("_tensor"));
}

}  // namespace

Machine machine_of(const GpuSpec& gpu, std::int32_t device) {
  return {Roofline(ceilings_of(gpu, device)), static_cast<double>(gpu.sm_count),
          gpu.sm_clock_mhz * kMega, &gpu};
}

const GpuSpec* board_of(const DeviceInfo& device) { return gpu_of_device(device); }

Machine machine_of(const Report& report, const DeviceInfo& device) {
  if (const GpuSpec* gpu = board_of(device)) return machine_of(*gpu, device.id);
  std::vector<Ceiling> roofs;
  std::set<std::string> names;
  // Published or computed ones first: those that were measured are below them on every GPU.
  for (const bool measured : {false, true}) {
    for (const Ceiling& ceiling : report.ceilings) {
      if (!is_of_use(ceiling, device.id) || ceiling.source.starts_with("measured") != measured ||
          (measured && names.contains(ceiling.name)))
        continue;
      roofs.push_back(ceiling);
      names.insert(ceiling.name);
    }
    if (measured) break;
    for (const Ceiling& ceiling : theoretical_ceilings(device)) {
      if (is_of_use(ceiling, device.id) && names.insert(ceiling.name).second)
        roofs.push_back(ceiling);
    }
  }
  return {Roofline(roofs), static_cast<double>(device.sm_count),
          static_cast<double>(device.sm_clock_max_hz), nullptr};
}

Maybe time_factor(const ScalingFacts& facts, const Machine& here, const Machine& there) {
  if (facts.stays) return 1;
  if (!facts.least_here_ns || !facts.least_there_ns || !(*facts.least_here_ns > 0))
    return std::nullopt;
  double least_here = *facts.least_here_ns, least_there = *facts.least_there_ns;
  if (facts.blocks > 0 && here.sm_count > 0 && there.sm_count > 0) {
    // A grid that moves more than so many SMs should is not held by their number.
    const double used = used_share(facts.blocks, here.sm_count);
    if (!facts.time_ns || *facts.time_ns >= least_here / used) {
      least_here /= used;
      least_there /= used_share(facts.blocks, there.sm_count);
    }
  }
  if (!facts.time_ns || !(*facts.time_ns > 0)) return least_there / least_here;
  const double time = *facts.time_ns;
  const double explained = std::min(time, least_here / kLatencyFraction);
  const double clocks =
      here.sm_clock_hz > 0 && there.sm_clock_hz > 0 ? here.sm_clock_hz / there.sm_clock_hz : 1;
  const double after = explained * (least_there / least_here) + (time - explained) * clocks;
  // What would become shorter than its launch is held by that.
  return std::max(after, std::min(time, facts.launch_latency_ns.value_or(0))) / time;
}

std::string usual_type(const Report& report) {
  const LayersById layers(report);
  std::map<std::string, double> types;
  for (const KernelRow& kernel : report.kernels) {
    if (!is_matrix_kernel(kernel, layers.find(kernel.layer))) continue;
    if (const std::string type = type_of(kernel.flops); !type.empty())
      types[type] += kernel.flops.total.value_or(0) * kernel.launches;
  }
  const auto most = std::max_element(
      types.begin(), types.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == types.end() ? "fp32" : most->first;
}

void change_precision(KernelRow& kernel, bool matrix, const std::string& precision,
                      const std::string& usual) {
  const std::string own = type_of(kernel.flops);
  if (own == "fp64") return;
  const double before = element_bytes(matrix && !own.empty() ? own : usual);
  if (before > 0) {
    Bytes& bytes = kernel.bytes;
    for (Maybe* each : {&bytes.dram, &bytes.dram_read, &bytes.dram_write, &bytes.l2, &bytes.l1}) {
      if (*each) *each = **each * element_bytes(precision) / before;
    }
  }
  Flops& flops = kernel.flops;
  if (!matrix || !flops.total) return;
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

double element_bytes(std::string_view precision) {
  if (precision == "fp64") return 8;
  if (precision == "fp32" || precision == "tf32") return 4;
  if (precision == "bf16" || precision == "fp16") return 2;
  if (precision == "fp8" || precision == "int8") return 1;
  if (precision == "fp4") return 0.5;
  return 0;
}

}  // namespace gable

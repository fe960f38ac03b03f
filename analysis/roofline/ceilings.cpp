// SPDX-License-Identifier: Apache-2.0
#include "analysis/roofline/ceilings.h"

#include "analysis/base/number_text.h"
#include "analysis/roofline/chip_rates.h"

namespace gable {
namespace {

struct Clock {
  double hz = 0;
  SmClock kind;
};

std::string text(double value) { return significant(value, 4); }

class List {
 public:
  List(const DeviceInfo& device, const Clock& clock, std::vector<Ceiling>& out)
      : device_(device), clock_(clock), out_(out) {}

  void compute(const std::string& name, double rate, std::string_view source) {
    add(CeilingKind::compute, name, device_.sm_count, "SMs", rate, "per clock", source);
  }
  void memory(const std::string& name, double units, const char* unit, double rate,
              std::string_view source) {
    add(CeilingKind::memory, name, units, unit, rate, "byte per clock", source);
  }

 private:
  void add(CeilingKind kind, const std::string& name, double units, const char* unit, double rate,
           const char* per, std::string_view source) {
    if (rate <= 0 || units <= 0) return;
    std::string from = "theoretical: " + text(units) + " " + unit + " x " + text(rate) + " " + per +
                       " x " + text(clock_.hz * 1e-9) + " GHz, the " +
                       (clock_.kind == SmClock::boost ? "highest" : "measured") + " clock";
    if (!source.empty()) from.append("; ").append(source);
    out_.push_back(
        {device_.id, kind, name, units * rate * clock_.hz, std::move(from), clock_.kind});
  }

  const DeviceInfo& device_;
  const Clock clock_;
  std::vector<Ceiling>& out_;
};

void add_tensor(const ChipRates::Tensor& tensor, const std::set<std::string>& sparse, List& list) {
  const std::pair<const char*, double> types[] = {
      {"fp64", tensor.fp64}, {"tf32", tensor.tf32}, {"bf16", tensor.bf16}, {"fp16", tensor.fp16},
      {"fp8", tensor.fp8},   {"fp6", tensor.fp6},   {"fp4", tensor.fp4},   {"int8", tensor.int8}};
  for (const auto& [type, rate] : types)
    list.compute(tensor_ceiling_name(type), rate, tensor.source);
  for (const auto& [type, rate] : types) {
    const std::string_view name = type;
    if (name == "fp64" || !sparse.contains(type)) continue;
    const double times = name == "fp4" ? tensor.fp4_sparse : tensor.sparse;
    list.compute(sparse_ceiling_name(type), rate * times, tensor.source);
  }
}

void add_at(const DeviceInfo& device, const ChipRates& rates, const Clock& clock,
            const std::set<std::string>& sparse, std::vector<Ceiling>& ceilings) {
  if (!(clock.hz > 0) || device.sm_count <= 0) return;
  List list(device, clock, ceilings);
  const ChipRates::Cores& cores = rates.cores;
  const std::pair<const char*, double> types[] = {
      {"fp64", cores.fp64}, {"fp32", cores.fp32}, {"fp16", cores.fp16}};
  for (const auto& [type, rate] : types) list.compute(type, rate, cores.source);
  for (const auto& [type, rate] : types)
    list.compute(std::string(type) + "_no_fma", rate / 2, cores.source);
  add_tensor(rates.tensor, sparse, list);
  const ChipRates::Caches& caches = rates.caches;
  if (caches.l2_slice_kb > 0) {
    const double slices = static_cast<double>(device.l2_bytes) / (caches.l2_slice_kb * 1024);
    list.memory("l2", slices, "slices", caches.l2_slice, caches.source);
  }
  list.memory("l1", device.sm_count, "SMs", caches.l1, caches.source);
}

}  // namespace

std::vector<Ceiling> theoretical_ceilings(const DeviceInfo& device, Maybe sm_clock_measured_hz,
                                          const std::set<std::string>& sparse) {
  std::vector<Ceiling> ceilings;
  if (const ChipRates* rates = rates_of(device)) {
    add_at(device, *rates, {sm_clock_measured_hz.value_or(0), SmClock::measured}, sparse, ceilings);
    add_at(device, *rates, {static_cast<double>(device.sm_clock_max_hz), SmClock::boost}, sparse,
           ceilings);
  }
  if (device.memory_clock_max_hz > 0 && device.memory_bus_bits > 0) {
    const auto memory_clock = static_cast<double>(device.memory_clock_max_hz);
    ceilings.push_back({device.id, CeilingKind::memory, "dram",
                        memory_clock * device.memory_bus_bits * 2 / 8,
                        "theoretical: " + text(memory_clock * 1e-9) + " GHz x " +
                            std::to_string(device.memory_bus_bits) + " bit x 2",
                        SmClock::none});
  }
  return ceilings;
}

std::string tensor_ceiling_name(std::string_view type) { return std::string(type) + "_tensor"; }

std::string sparse_ceiling_name(std::string_view type) {
  return tensor_ceiling_name(type) + "_sparse";
}

bool is_stated_by_cupti(const Ceiling& ceiling) {
  return ceiling.source.starts_with("theoretical: " + std::string(kStatedByCupti) + " ");
}

int preference(const Ceiling& ceiling) {
  if (ceiling.source.rfind("measured", 0) == 0) return 2;
  return ceiling.clock == SmClock::measured ? 1 : 0;
}

}  // namespace gable

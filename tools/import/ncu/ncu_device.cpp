// SPDX-License-Identifier: Apache-2.0
#include "tools/import/ncu/ncu_device.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <optional>

#include "analysis/base/display.h"
#include "analysis/base/text.h"
#include "tools/import/counters/ncu_units.h"
#include "tools/import/counters/ncu_values.h"

namespace gable {
namespace {

constexpr std::string_view kPrefix = "device__attribute_";
constexpr std::size_t kLongestName = 200;

struct Attribute {
  std::string_view name;
  double most = 0;     // 0: it is a text
  bool clock = false;  // in kHz
};
constexpr auto kAttributes = std::to_array<Attribute>({{"display_name"},
                                                       {"compute_capability_major", 1000},
                                                       {"compute_capability_minor", 1000},
                                                       {"multiprocessor_count", 1e6},
                                                       {"clock_rate", 1e12, true},
                                                       {"max_gpu_frequency_khz", 1e12, true},
                                                       {"memory_clock_rate", 1e12, true},
                                                       {"max_mem_frequency_khz", 1e12, true},
                                                       {"global_memory_bus_width", 1e6},
                                                       {"fb_bus_width", 1e6},
                                                       {"l2_cache_size", 1e15},
                                                       {"total_memory", 1e15}});

const Attribute* attribute_of(std::string_view metric) {
  if (metric == "# SMs") metric = "device__attribute_multiprocessor_count";
  if (!metric.starts_with(kPrefix)) return nullptr;
  const auto found = std::find_if(
      kAttributes.begin(), kAttributes.end(),
      [&](const Attribute& each) { return each.name == metric.substr(kPrefix.size()); });
  return found == kAttributes.end() ? nullptr : found;
}

// Empty where the unit is none of such an attribute.
std::optional<double> scale_of(const Attribute& attribute, std::string_view unit) {
  const auto known = ncu_unit(unit);
  if (!known) return std::nullopt;
  if (known->above == NcuUnitKind::none) return attribute.clock ? 1e3 : 1;
  const bool frequency = known->above == NcuUnitKind::hertz ||
                         (known->above == NcuUnitKind::cycles && known->below == NcuUnitKind::time);
  if (attribute.clock) return frequency ? std::optional<double>(known->scale) : std::nullopt;
  const bool plain = known->above == NcuUnitKind::count || known->above == NcuUnitKind::bytes;
  return plain && known->below == NcuUnitKind::none ? std::optional<double>(known->scale)
                                                    : std::nullopt;
}

template <typename T>
void take(T& to, double value) {
  if (to == 0) to = static_cast<T>(value);
}

void take_number(std::string_view name, double value, DeviceInfo& device) {
  if (name == "compute_capability_major") take(device.compute_major, value);
  if (name == "compute_capability_minor") take(device.compute_minor, value);
  if (name == "multiprocessor_count") take(device.sm_count, value);
  if (name == "clock_rate" || name == "max_gpu_frequency_khz") take(device.sm_clock_max_hz, value);
  if (name == "memory_clock_rate" || name == "max_mem_frequency_khz")
    take(device.memory_clock_max_hz, value);
  if (name == "global_memory_bus_width" || name == "fb_bus_width")
    take(device.memory_bus_bits, value);
  if (name == "l2_cache_size") take(device.l2_bytes, value);
  if (name == "total_memory") take(device.memory_bytes, value);
}

}  // namespace

bool is_device_attribute(std::string_view metric) { return attribute_of(metric) != nullptr; }

bool NcuGpus::take(std::int32_t id, std::string_view metric, std::string_view unit,
                   std::string_view value, DecimalMark mark) {
  const Attribute* attribute = attribute_of(metric);
  if (attribute == nullptr) return false;
  DeviceInfo& device = gpus_[id];
  device.id = id;
  if (value.empty() || value == "n/a") return true;
  if (attribute->most <= 0) {
    if (device.name.empty()) device.name = clean_name(one_line(value), kLongestName);
    return true;
  }
  const auto number = ncu_number(value, mark);
  if (!number) return false;
  const auto scale = scale_of(*attribute, unit);
  if (!scale) return false;
  const double scaled = *number * *scale;
  if (!(scaled >= 0) || scaled > attribute->most) return false;
  take_number(attribute->name, std::round(scaled), device);
  return true;
}

void NcuGpus::finish(const std::string& file) {
  for (const auto& [id, device] : gpus_) {
    const auto known = imported_.devices.find(id);
    const bool has_clock = known != imported_.devices.end() && known->second.sm_clock_max_hz > 0;
    if (device.sm_clock_max_hz > 0 && !has_clock)
      imported_.notes.push_back("The attributes of device " + std::to_string(id) +
                                " are those in " + std::filesystem::path(file).filename().string() +
                                ": theoretical roofs are from them.");
    add_device(device, file, imported_);
  }
  gpus_.clear();
}

}  // namespace gable

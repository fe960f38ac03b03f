// SPDX-License-Identifier: Apache-2.0
// The playback libnvidia-ml. Of a device's links and clocks it tells what the recording does. Free
// memory is as GABLE_PLAYBACK_FREE_MEMORY says: byte, a list with commas of which every question
// takes the next and the last holds for good. What neither says fails, as where NVML may not be
// asked. Faults of its calls are those of the recording, too.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

#include "tools/playback/driver/gpu.h"

#define GABLE_NVML __attribute__((visibility("default"))) int

namespace {

using gable::GpuReading;
using gable::playback::Gpu;

struct Memory {
  unsigned long long total, free, used;
};
constexpr int kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kUnknown = 999;
constexpr unsigned long long kTotal = 150754820096ULL;

// A handle is a device's place, from 1.
const gable::DeviceInfo* device_of(const void* handle) {
  const auto place = reinterpret_cast<std::uintptr_t>(handle);
  const auto& devices = Gpu::get().recording().devices;
  return place >= 1 && place <= devices.size() ? &devices[place - 1] : nullptr;
}

// A call of `name` for a device: `body` answers, unless a fault does.
template <typename Body>
int call(const char* name, const void* handle, Body body) {
  auto& control = Gpu::get().control();
  if (const auto fault = control.fault_of(name)) return *fault;
  control.delay(name);
  const auto* device = device_of(handle);
  return device == nullptr ? kInvalidArgument : body(*device);
}

int tell(int value, unsigned* out) {
  if (out == nullptr) return kInvalidArgument;
  if (value == 0) return kNotSupported;
  *out = static_cast<unsigned>(value);
  return kSuccess;
}

// What NVML reads of a device now; the last reading holds for good. Null: the recording has none.
struct Readings {
  std::mutex mutex;
  std::map<std::int32_t, std::size_t> taken;  // so far, by device
};
Readings& readings() {
  static auto& the = *new Readings;
  return the;
}

const GpuReading* reading_of(std::int32_t device, bool next) {
  const auto& all = Gpu::get().recording().readings;
  const auto found = all.find(device);
  if (found == all.end()) return nullptr;
  const std::lock_guard<std::mutex> hold(readings().mutex);
  auto& taken = readings().taken[device];
  if (next) ++taken;
  return &found->second[std::min(std::max<std::size_t>(taken, 1), found->second.size()) - 1];
}
const GpuReading* next_reading(std::int32_t device) { return reading_of(device, true); }

int tell_reading(std::int32_t device, gable::Maybe GpuReading::*what, double unit, unsigned* out) {
  const auto* reading = reading_of(device, false);
  if (reading == nullptr || !(reading->*what)) return kNotSupported;
  *out = static_cast<unsigned>(std::llround(*(reading->*what) * unit));
  return kSuccess;
}

// nvmlNvlinkVersion_t: 2.2 and 3.1 have values of their own.
unsigned nvlink_value(int version) {
  return static_cast<unsigned>(version <= 2 ? version : version == 3 ? 4 : version + 2);
}

}  // namespace

extern "C" {

GABLE_NVML nvmlInit_v2(void) {
  if (const auto fault = Gpu::get().control().fault_of("nvmlInit_v2")) return *fault;
  Gpu::get().control().delay("nvmlInit_v2");
  return kSuccess;
}

GABLE_NVML nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  if (const auto fault = Gpu::get().control().fault_of("nvmlDeviceGetHandleByPciBusId_v2"))
    return *fault;
  if (bus == nullptr || device == nullptr) return kInvalidArgument;
  const std::string text = bus;  // "0000:01:00.0" is the first
  const auto colon = text.find(':');
  if (colon == std::string::npos) return kUnknown;
  *device = reinterpret_cast<void*>(std::strtoull(text.c_str() + colon + 1, nullptr, 16));
  return device_of(*device) != nullptr ? kSuccess : kUnknown;
}

GABLE_NVML nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  return call("nvmlDeviceGetMemoryInfo", device, [&](const gable::DeviceInfo&) {
    static std::mutex& mutex = *new std::mutex;
    const std::lock_guard<std::mutex> hold(mutex);
    static auto& left = *[] {
      const char* text = std::getenv("GABLE_PLAYBACK_FREE_MEMORY");
      return new std::string(text != nullptr ? text : "");
    }();
    if (memory == nullptr || left.empty()) return kUnknown;
    const auto comma = left.find(',');
    memory->free = std::strtoull(left.c_str(), nullptr, 10);
    memory->total = kTotal;
    memory->used = kTotal - memory->free;
    if (comma != std::string::npos) left.erase(0, comma + 1);
    return kSuccess;
  });
}

GABLE_NVML nvmlDeviceGetCurrPcieLinkGeneration(void* device, unsigned* value) {
  return call("nvmlDeviceGetCurrPcieLinkGeneration", device,
              [&](const auto& info) { return tell(info.links.pcie.generation, value); });
}
GABLE_NVML nvmlDeviceGetCurrPcieLinkWidth(void* device, unsigned* value) {
  return call("nvmlDeviceGetCurrPcieLinkWidth", device,
              [&](const auto& info) { return tell(info.links.pcie.width, value); });
}
GABLE_NVML nvmlDeviceGetMaxPcieLinkGeneration(void* device, unsigned* value) {
  return call("nvmlDeviceGetMaxPcieLinkGeneration", device,
              [&](const auto& info) { return tell(info.links.pcie_max.generation, value); });
}
GABLE_NVML nvmlDeviceGetMaxPcieLinkWidth(void* device, unsigned* value) {
  return call("nvmlDeviceGetMaxPcieLinkWidth", device,
              [&](const auto& info) { return tell(info.links.pcie_max.width, value); });
}

GABLE_NVML nvmlDeviceGetNvLinkState(void* device, unsigned link, int* state) {
  return call("nvmlDeviceGetNvLinkState", device, [&](const auto& info) {
    if (!info.links.nvlinks) return kUnknown;
    if (*info.links.nvlinks == 0) return kNotSupported;
    if (link >= *info.links.nvlinks || state == nullptr) return kInvalidArgument;
    *state = 1;
    return kSuccess;
  });
}
GABLE_NVML nvmlDeviceGetNvLinkVersion(void* device, unsigned link, unsigned* version) {
  return call("nvmlDeviceGetNvLinkVersion", device, [&](const auto& info) {
    if (link >= info.links.nvlinks.value_or(0)) return kInvalidArgument;
    return tell(static_cast<int>(nvlink_value(info.links.nvlink_version)), version);
  });
}

// The first of the calls for a reading: the others tell of the same one.
GABLE_NVML nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
  return call("nvmlDeviceGetCurrentClocksEventReasons", device, [&](const auto& info) {
    const auto* reading = next_reading(info.id);
    if (reading == nullptr || !reading->reasons) return kNotSupported;
    *reasons = *reading->reasons;
    return kSuccess;
  });
}
GABLE_NVML nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) {
  return call("nvmlDeviceGetClockInfo", device, [&](const auto& info) {
    if (type != 1 && type != 2) return kInvalidArgument;
    return tell_reading(
        info.id, type == 1 ? &GpuReading::sm_clock_hz : &GpuReading::memory_clock_hz, 1e-6, mhz);
  });
}
GABLE_NVML nvmlDeviceGetPowerUsage(void* device, unsigned* mw) {
  return call("nvmlDeviceGetPowerUsage", device, [&](const auto& info) {
    return tell_reading(info.id, &GpuReading::power_w, 1e3, mw);
  });
}
GABLE_NVML nvmlDeviceGetEnforcedPowerLimit(void* device, unsigned* mw) {
  return call("nvmlDeviceGetEnforcedPowerLimit", device, [&](const auto& info) {
    return tell_reading(info.id, &GpuReading::power_limit_w, 1e3, mw);
  });
}
GABLE_NVML nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius) {
  return call("nvmlDeviceGetTemperature", device, [&](const auto& info) {
    if (sensor != 0) return kInvalidArgument;
    return tell_reading(info.id, &GpuReading::temperature_c, 1, celsius);
  });
}

}  // extern "C"

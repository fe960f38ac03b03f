// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/nvml.h"

#include <cuda.h>
#include <dlfcn.h>

#include <array>

namespace gable {
namespace {

constexpr int kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3;
constexpr int kFeatureEnabled = 1;
constexpr unsigned kMostNvLinks = 36;  // NVML_NVLINK_MAX_LINKS; 18 up to Blackwell

using Number = int (*)(void* device, unsigned* value);
using LinkNumber = int (*)(void* device, unsigned link, unsigned* value);

struct Memory {  // nvmlMemory_t
  unsigned long long total, free, used;
};

struct Temperature {  // nvmlTemperature_v1_t
  unsigned version, sensor;
  int celsius;
};

constexpr unsigned kTemperatureVersion = sizeof(Temperature) | 1u << 24;
constexpr unsigned kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t
constexpr unsigned kGpuDie = 0;                     // nvmlTemperatureSensors_t

// 0: the call is missing, or refuses.
int ask(Number call, void* device) {
  unsigned value = 0;
  return call != nullptr && call(device, &value) == kSuccess ? static_cast<int>(value) : 0;
}

}  // namespace

struct Nvml::Calls {
  int (*init)() = nullptr;
  int (*by_bus)(const char*, void**) = nullptr;
  int (*memory)(void*, Memory*) = nullptr;
  Number pcie_generation = nullptr, pcie_width = nullptr;
  Number pcie_generation_max = nullptr, pcie_width_max = nullptr;
  LinkNumber nvlink_state = nullptr, nvlink_version = nullptr;
  int (*clock)(void*, unsigned type, unsigned* mhz) = nullptr;
  Number power_mw = nullptr, power_limit_mw = nullptr;
  int (*temperature)(void*, unsigned sensor, unsigned* celsius) = nullptr;
  int (*temperature_v)(void*, Temperature*) = nullptr;
  int (*reasons)(void*, unsigned long long*) = nullptr;
  decltype(&::cuDeviceGetPCIBusId) bus_of = nullptr;
  decltype(&::cuDeviceGetCount) count_of = nullptr;
  decltype(&::cuDeviceGetAttribute) attribute_of = nullptr;
};

Nvml::Nvml() : calls_(std::make_unique<Calls>()) {}
Nvml::~Nvml() = default;

void Nvml::find() {
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto resolve = [](void* library, const char* name, auto& call) {
    if (library != nullptr)
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, name));
  };
  auto& c = *calls_;
  resolve(nvml, "nvmlInit_v2", c.init);
  resolve(nvml, "nvmlDeviceGetHandleByPciBusId_v2", c.by_bus);
  resolve(nvml, "nvmlDeviceGetMemoryInfo", c.memory);
  resolve(nvml, "nvmlDeviceGetCurrPcieLinkGeneration", c.pcie_generation);
  resolve(nvml, "nvmlDeviceGetCurrPcieLinkWidth", c.pcie_width);
  resolve(nvml, "nvmlDeviceGetMaxPcieLinkGeneration", c.pcie_generation_max);
  resolve(nvml, "nvmlDeviceGetMaxPcieLinkWidth", c.pcie_width_max);
  resolve(nvml, "nvmlDeviceGetNvLinkState", c.nvlink_state);
  resolve(nvml, "nvmlDeviceGetNvLinkVersion", c.nvlink_version);
  resolve(nvml, "nvmlDeviceGetClockInfo", c.clock);
  resolve(nvml, "nvmlDeviceGetPowerUsage", c.power_mw);
  resolve(nvml, "nvmlDeviceGetEnforcedPowerLimit", c.power_limit_mw);
  resolve(nvml, "nvmlDeviceGetTemperature", c.temperature);  // until CUDA 14
  resolve(nvml, "nvmlDeviceGetTemperatureV", c.temperature_v);
  resolve(nvml, "nvmlDeviceGetCurrentClocksEventReasons", c.reasons);
  // Its name before CUDA 12.2.
  if (c.reasons == nullptr) resolve(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", c.reasons);
  // CUDA's ordinals are not NVML's: the bus tells which is which.
  resolve(driver, "cuDeviceGetPCIBusId", c.bus_of);
  resolve(driver, "cuDeviceGetCount", c.count_of);
  resolve(driver, "cuDeviceGetAttribute", c.attribute_of);
}

bool Nvml::open() {
  const auto& c = *calls_;
  int count = 0;
  if (c.init == nullptr || c.by_bus == nullptr || c.bus_of == nullptr || c.count_of == nullptr ||
      c.init() != kSuccess || c.count_of(&count) != CUDA_SUCCESS)
    return false;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    std::array<char, 32> bus{};
    void* handle = nullptr;
    const bool known =
        c.bus_of(bus.data(), static_cast<int>(bus.size()), ordinal) == CUDA_SUCCESS &&
        c.by_bus(bus.data(), &handle) == kSuccess;
    handles_.push_back(known ? handle : nullptr);
  }
  return true;
}

std::int32_t Nvml::devices() const { return static_cast<std::int32_t>(handles_.size()); }

void* Nvml::handle(std::int32_t device) const {
  return device >= 0 && device < devices() ? handles_[static_cast<std::size_t>(device)] : nullptr;
}

std::optional<std::uint64_t> Nvml::free_bytes(std::int32_t device) const {
  void* const of = handle(device);
  Memory memory{};
  if (of == nullptr || calls_->memory == nullptr || calls_->memory(of, &memory) != kSuccess)
    return std::nullopt;
  return memory.free;
}

DeviceLinks Nvml::links(std::int32_t device) const {
  DeviceLinks links;
  void* const of = handle(device);
  if (of == nullptr) return links;
  const auto& c = *calls_;
  links.pcie = pcie(device);
  links.pcie_max = {ask(c.pcie_generation_max, of), ask(c.pcie_width_max, of)};
  if (c.nvlink_state == nullptr) return links;
  std::int64_t active = 0;
  for (unsigned link = 0; link < kMostNvLinks; ++link) {
    unsigned state = 0;
    const int code = c.nvlink_state(of, link, &state);
    // A GPU without any, or beyond its last one. Another refusal says nothing about links.
    if (code == kNotSupported || code == kInvalidArgument) break;
    if (code != kSuccess) return links;
    if (state != kFeatureEnabled) continue;
    unsigned version = 0;
    if (++active == 1 && c.nvlink_version != nullptr &&
        c.nvlink_version(of, link, &version) == kSuccess) {
      const auto attribute = [&](CUdevice_attribute which) {
        int value = 0;
        return c.attribute_of != nullptr && c.attribute_of(&value, which, device) == CUDA_SUCCESS
                   ? value
                   : 0;
      };
      links.nvlink_version =
          gable::nvlink_version(version, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                                attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    }
  }
  links.nvlinks = active;
  return links;
}

DeviceLinks::Pcie Nvml::pcie(std::int32_t device) const {
  void* const of = handle(device);
  if (of == nullptr) return {};
  return {ask(calls_->pcie_generation, of), ask(calls_->pcie_width, of)};
}

GpuReading Nvml::read(std::int32_t device) const {
  GpuReading reading;
  void* const of = handle(device);
  if (of == nullptr) return reading;
  const auto& c = *calls_;
  // A clock, a power and a temperature of 0 are no readings.
  const auto in = [of](double unit, auto call, auto... which) {
    unsigned value = 0;
    return call != nullptr && call(of, which..., &value) == kSuccess && value > 0
               ? Maybe(value * unit)
               : std::nullopt;
  };
  if (c.reasons != nullptr) {
    unsigned long long reasons = 0;
    if (c.reasons(of, &reasons) == kSuccess) reading.reasons = reasons;
  }
  reading.sm_clock_hz = in(1e6, c.clock, kSmClock);
  reading.memory_clock_hz = in(1e6, c.clock, kMemoryClock);
  reading.power_w = in(1e-3, c.power_mw);
  reading.power_limit_w = in(1e-3, c.power_limit_mw);
  reading.temperature_c = in(1, c.temperature, kGpuDie);
  Temperature temperature{kTemperatureVersion, kGpuDie, 0};
  if (!reading.temperature_c && c.temperature_v != nullptr &&
      c.temperature_v(of, &temperature) == kSuccess)
    reading.temperature_c = temperature.celsius;
  return reading;
}

int nvlink_version(unsigned value, int compute_major, int compute_minor) {
  // 1.0, 2.0, 2.2, 3.0, 3.1, 4.0, 5.0, 6.0.
  constexpr std::array<int, 9> kVersions{0, 1, 2, 2, 3, 3, 4, 5, 6};
  if (value >= kVersions.size()) return 0;
  // H100s have been seen to answer 5.0; the links of all GPUs of their capability are 4.0.
  if (compute_major == 9 && compute_minor == 0 && kVersions[value] == 5) return 4;
  return kVersions[value];
}

}  // namespace gable

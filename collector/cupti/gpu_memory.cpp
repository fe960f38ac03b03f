// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/gpu_memory.h"

#include <cuda.h>
#include <dlfcn.h>

#include <array>

namespace gable {
namespace {

template <typename Function>
Function symbol(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

struct GpuMemory::Calls {
  int (*init)() = nullptr;
  int (*by_bus)(const char*, void**) = nullptr;
  Ask ask = nullptr;
  decltype(&::cuDeviceGetPCIBusId) bus_of = nullptr;
  decltype(&::cuDeviceGetCount) count_of = nullptr;
};

void GpuMemory::find() {
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  Calls found;
  found.init = symbol<decltype(found.init)>(nvml, "nvmlInit_v2");
  found.by_bus = symbol<decltype(found.by_bus)>(nvml, "nvmlDeviceGetHandleByPciBusId_v2");
  found.ask = symbol<Ask>(nvml, "nvmlDeviceGetMemoryInfo");
  // CUDA's ordinals are not NVML's: the bus tells which is which.
  found.bus_of = symbol<decltype(found.bus_of)>(driver, "cuDeviceGetPCIBusId");
  found.count_of = symbol<decltype(found.count_of)>(driver, "cuDeviceGetCount");
  calls_ = std::make_shared<const Calls>(found);
}

void GpuMemory::open() {
  if (calls_ == nullptr) find();
  const auto& [init, by_bus, ask, bus_of, count_of] = *calls_;
  ask_ = ask;
  int count = 0;
  if (init == nullptr || by_bus == nullptr || ask == nullptr || bus_of == nullptr ||
      count_of == nullptr || init() != 0 || count_of(&count) != CUDA_SUCCESS)
    return;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    std::array<char, 32> bus{};
    void* handle = nullptr;
    const bool known = bus_of(bus.data(), static_cast<int>(bus.size()), ordinal) == CUDA_SUCCESS &&
                       by_bus(bus.data(), &handle) == 0;
    handles_.push_back(known ? handle : nullptr);
  }
  ready_.store(true, std::memory_order_release);
}

std::optional<std::uint64_t> GpuMemory::free_bytes(std::int32_t device) const {
  if (!ready_.load(std::memory_order_acquire) || device < 0 ||
      static_cast<std::size_t>(device) >= handles_.size())
    return std::nullopt;
  void* handle = handles_[static_cast<std::size_t>(device)];
  Info info{};
  if (handle == nullptr || ask_(handle, &info) != 0) return std::nullopt;
  return info.free;
}

}  // namespace gable

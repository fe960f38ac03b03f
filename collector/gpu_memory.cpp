// SPDX-License-Identifier: Apache-2.0
#include "collector/gpu_memory.h"

#include <cuda.h>
#include <dlfcn.h>

#include <array>

namespace gable {
namespace {

template <typename Function>
Function find(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

void GpuMemory::open() {
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto init = find<int (*)()>(nvml, "nvmlInit_v2");
  const auto by_bus = find<int (*)(const char*, void**)>(nvml, "nvmlDeviceGetHandleByPciBusId_v2");
  ask_ = find<Ask>(nvml, "nvmlDeviceGetMemoryInfo");
  // CUDA's ordinals are not NVML's: the bus tells which is which.
  const auto bus_of = find<decltype(&::cuDeviceGetPCIBusId)>(driver, "cuDeviceGetPCIBusId");
  const auto count_of = find<decltype(&::cuDeviceGetCount)>(driver, "cuDeviceGetCount");
  int count = 0;
  if (init == nullptr || by_bus == nullptr || ask_ == nullptr || bus_of == nullptr ||
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

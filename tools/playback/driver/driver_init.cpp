// SPDX-License-Identifier: Apache-2.0
// The playback libcuda: cuInit, which loads the injection as the driver does, and devices.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "tools/playback/driver/driver_call.h"

using namespace gable::playback;

namespace {

// The playback libcupti beside this library, so that an injected library finds "a copy already in
// the process". GABLE_PLAYBACK_CUPTI: another path, or "none".
void load_cupti_beside() {
  const char* wish = std::getenv("GABLE_PLAYBACK_CUPTI");
  if (wish != nullptr && std::strcmp(wish, "none") == 0) return;
  std::string path = wish == nullptr ? "" : wish;
  if (path.empty()) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&load_cupti_beside), &info) == 0 ||
        info.dli_fname == nullptr)
      return;
    path = info.dli_fname;
    const std::size_t slash = path.rfind('/');
    path =
        (slash == std::string::npos ? std::string(".") : path.substr(0, slash)) + "/libcupti.so.13";
  }
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr)
    std::fprintf(stderr, "playback: %s\n", dlerror());
}

// As the driver: a missing library and a failing entry are ignored.
void load_injection() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  using Entry = int (*)();
  if (const auto entry = reinterpret_cast<Entry>(dlsym(library, "InitializeInjection"))) {
    thread_state().in_injection = true;
    entry();
    thread_state().in_injection = false;
  }
}

void initialize() {
  Gpu& gpu = Gpu::get();
  load_cupti_beside();
  load_injection();
  gpu.initialized.store(true, std::memory_order_release);
  tell(ResourceEvent::init_finished, nullptr);
}

const gable::DeviceInfo* device_of(CUdevice device) {
  const auto& devices = Gpu::get().recording().devices;
  return device >= 0 && static_cast<std::size_t>(device) < devices.size()
             ? &devices[static_cast<std::size_t>(device)]
             : nullptr;
}

int attribute(const gable::DeviceInfo& device, CUdevice_attribute which) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return device.compute_major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return device.compute_minor;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return device.sm_count;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return static_cast<int>(device.sm_clock_max_hz / 1000);
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return static_cast<int>(device.memory_clock_max_hz / 1000);
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return static_cast<int>(device.memory_bus_bits);
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return static_cast<int>(device.l2_bytes);
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
      return 1;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
      return device.compute_major >= 9 ? 1 : 0;
    default:
      return 0;
  }
}

}  // namespace

namespace gable::playback {
void tell(ResourceEvent event, Context* context, Stream* stream, Module* module) {
  if (Tools* tools = Gpu::get().tools.load(std::memory_order_acquire))
    tools->resource(event, context, stream, module);
}
void tell(GraphEvent event, const GraphChange& change) {
  if (Tools* tools = Gpu::get().tools.load(std::memory_order_acquire)) tools->graph(event, change);
}
}  // namespace gable::playback

extern "C" {

CUresult CUDAAPI cuInit(unsigned int flags) {
  static std::once_flag once;
  Gpu& gpu = Gpu::get();
  if (const auto fault = gpu.control().fault_of("cuInit")) return static_cast<CUresult>(*fault);
  if (thread_state().callback_depth > 0)
    gpu.control().rule_broken("cuInit was called inside a callback of CUPTI");
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (thread_state().in_injection) {  // the real one would wait for itself
    gpu.control().rule_broken("cuInit was called inside InitializeInjection");
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  std::call_once(once, initialize);
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const char* older = std::getenv("GABLE_PLAYBACK_DRIVER");
  *version = older != nullptr ? std::atoi(older) : CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int* count) {
  const cuDeviceGetCount_params p{count};
  return api(GABLE_CBID(cuDeviceGetCount), "cuDeviceGetCount", Effect::query, &p, [&](ApiCall&) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(Gpu::get().recording().devices.size());
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGet(CUdevice* device, int ordinal) {
  const cuDeviceGet_params p{device, ordinal};
  return api(GABLE_CBID(cuDeviceGet), "cuDeviceGet", Effect::query, &p, [&](ApiCall&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (device_of(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetName(char* name, int len, CUdevice dev) {
  const cuDeviceGetName_params p{name, len, dev};
  return api(GABLE_CBID(cuDeviceGetName), "cuDeviceGetName", Effect::query, &p, [&](ApiCall&) {
    const gable::DeviceInfo* device = device_of(dev);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (name == nullptr || len <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, static_cast<std::size_t>(len), "%s", device->name.c_str());
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuDeviceGetPCIBusId(char* bus, int len, CUdevice dev) {
  const cuDeviceGetPCIBusId_params p{bus, len, dev};
  return api(GABLE_CBID(cuDeviceGetPCIBusId), "cuDeviceGetPCIBusId", Effect::query, &p,
             [&](ApiCall&) {
               if (device_of(dev) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
               if (bus == nullptr || len < 13) return CUDA_ERROR_INVALID_VALUE;
               std::snprintf(bus, static_cast<std::size_t>(len), "0000:%02x:00.0", 1 + dev);
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice dev) {
  const cuDeviceGetUuid_v2_params p{uuid, dev};
  return api(GABLE_CBID(cuDeviceGetUuid_v2), "cuDeviceGetUuid_v2", Effect::query, &p,
             [&](ApiCall&) {
               if (device_of(dev) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
               if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
               std::memset(uuid, 0, sizeof *uuid);
               uuid->bytes[0] = static_cast<char>(1 + dev);
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuDeviceTotalMem(std::size_t* bytes, CUdevice dev) {
  const cuDeviceTotalMem_v2_params p{bytes, dev};
  return api(GABLE_CBID(cuDeviceTotalMem_v2), "cuDeviceTotalMem_v2", Effect::query, &p,
             [&](ApiCall&) {
               const gable::DeviceInfo* device = device_of(dev);
               if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
               if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
               *bytes = device->memory_bytes;
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice dev) {
  const cuDeviceGetAttribute_params p{value, which, dev};
  return api(GABLE_CBID(cuDeviceGetAttribute), "cuDeviceGetAttribute", Effect::query, &p,
             [&](ApiCall&) {
               const gable::DeviceInfo* device = device_of(dev);
               if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
               if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
               *value = attribute(*device, which);
               return CUDA_SUCCESS;
             });
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (error) {
    case CUDA_SUCCESS:
      *text = "CUDA_SUCCESS";
      break;
    case CUDA_ERROR_INVALID_VALUE:
      *text = "CUDA_ERROR_INVALID_VALUE";
      break;
    case CUDA_ERROR_OUT_OF_MEMORY:
      *text = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case CUDA_ERROR_NOT_INITIALIZED:
      *text = "CUDA_ERROR_NOT_INITIALIZED";
      break;
    case CUDA_ERROR_INVALID_DEVICE:
      *text = "CUDA_ERROR_INVALID_DEVICE";
      break;
    case CUDA_ERROR_INVALID_CONTEXT:
      *text = "CUDA_ERROR_INVALID_CONTEXT";
      break;
    case CUDA_ERROR_INVALID_HANDLE:
      *text = "CUDA_ERROR_INVALID_HANDLE";
      break;
    case CUDA_ERROR_NOT_READY:
      *text = "CUDA_ERROR_NOT_READY";
      break;
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
      *text = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
      break;
    default:
      *text = "CUDA_ERROR_UNKNOWN";
      break;
  }
  return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char** text) {
  return cuGetErrorName(error, text);
}

CUresult CUDAAPI cuGetProcAddress(const char* symbol, void** address, int, cuuint64_t,
                                  CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Dl_info info{};
  *address = nullptr;
  if (dladdr(reinterpret_cast<void*>(&cuInit), &info) != 0 && info.dli_fname != nullptr) {
    void* self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    for (const char* suffix : {"_v4", "_v3", "_v2", ""}) {
      if (*address == nullptr) *address = dlsym(self, (std::string(symbol) + suffix).c_str());
    }
  }
  if (status != nullptr) {
    *status =
        *address == nullptr ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
  }
  return *address == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}

}  // extern "C"

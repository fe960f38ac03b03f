// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <limits>

namespace gable::gpu {

void* driver_symbol(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) throw Failed("There is no NVIDIA driver (libcuda.so.1) on this machine.");
  void* found = dlsym(driver, name);
  if (found == nullptr) throw Failed(std::string("The driver has no ") + name + ".");
  return found;
}

void good(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  driver_call<decltype(cuGetErrorName)>("cuGetErrorName")(result, &name);
  throw Failed(std::string(call) + " answers " + (name == nullptr ? "an unknown error" : name) +
               " (" + std::to_string(result) + ").");
}

Gpu::Gpu() {
  GABLE_CU(cuInit, 0);
  GABLE_CU(cuDeviceGet, &device_, 0);
  GABLE_CU(cuDevicePrimaryCtxRetain, &context_, device_);
  GABLE_CU(cuCtxSetCurrent, context_);
  GABLE_CU(cuEventCreate, &begin_, 0);
  GABLE_CU(cuEventCreate, &end_, 0);
}

Gpu::~Gpu() {
  for (const CUdeviceptr memory : memory_) (void)GABLE_CU_RESULT(cuMemFree, memory);
  (void)GABLE_CU_RESULT(cuDevicePrimaryCtxRelease, device_);
}

int Gpu::attribute(CUdevice_attribute which) const {
  int value = 0;
  GABLE_CU(cuDeviceGetAttribute, &value, which, device_);
  return value;
}

int Gpu::capability() const {
  return attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
         attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

CUfunction Gpu::kernel(const std::string& ptx, const char* name) {
  CUmodule& module = modules_[ptx];
  if (module == nullptr) GABLE_CU(cuModuleLoadData, &module, ptx.c_str());
  CUfunction function = nullptr;
  GABLE_CU(cuModuleGetFunction, &function, module, name);
  return function;
}

CUdeviceptr Gpu::memory(std::size_t bytes) {
  CUdeviceptr memory = 0;
  GABLE_CU(cuMemAlloc, &memory, bytes);
  memory_.push_back(memory);
  GABLE_CU(cuMemsetD8, memory, 1, bytes);
  wait();
  return memory;
}

std::size_t Gpu::free_memory() const {
  std::size_t free = 0, all = 0;
  GABLE_CU(cuMemGetInfo, &free, &all);
  return free;
}

void Gpu::wait() const { GABLE_CU(cuCtxSynchronize); }

double Gpu::event_ns(const std::function<void()>& work) const {
  GABLE_CU(cuEventRecord, begin_, nullptr);
  work();
  GABLE_CU(cuEventRecord, end_, nullptr);
  GABLE_CU(cuEventSynchronize, end_);
  float ms = 0;
  using Elapsed = CUresult(float*, CUevent, CUevent);
  Elapsed* elapsed = nullptr;
  try {
    elapsed = driver_call<Elapsed>("cuEventElapsedTime_v2");
  } catch (const Failed&) {  // a driver before CUDA 12.8
    elapsed = driver_call<Elapsed>("cuEventElapsedTime");
  }
  good(elapsed(&ms, begin_, end_), "cuEventElapsedTime");
  return static_cast<double>(ms) * 1e6;
}

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace gable::gpu

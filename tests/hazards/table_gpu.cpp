// SPDX-License-Identifier: Apache-2.0
// Makes a CUDA program of any program: loaded by LD_PRELOAD, it launches kernels before main, and
// the GPU stays open until the program ends. It stops in the midst of Gable's queue: counters are
// on while the program does what it does.
//
// With HAZARD_GPU=later the program calls hazard_open_gpu() itself: programs seldom start CUDA
// while a library is loaded. Without a libcuda it does nothing. It brings no C++ run-time into a
// program that has none.
#include <cuda.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdlib.h>
#include <unistd.h>

namespace {

constexpr int kSteps = 6, kLaunches = 4;

template <typename Function>
bool find(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

void open_gpu() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  decltype(&cuInit) init = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain = nullptr;
  decltype(&cuCtxSetCurrent) set_current = nullptr;
  decltype(&cuModuleLoadData) load = nullptr;
  decltype(&cuModuleGetFunction) get_function = nullptr;
  decltype(&cuLaunchKernel) launch = nullptr;
  decltype(&cuCtxSynchronize) synchronize = nullptr;
  if (!find(library, init, "cuInit") || !find(library, retain, "cuDevicePrimaryCtxRetain") ||
      !find(library, set_current, "cuCtxSetCurrent") || !find(library, load, "cuModuleLoadData") ||
      !find(library, get_function, "cuModuleGetFunction") ||
      !find(library, launch, "cuLaunchKernel") || !find(library, synchronize, "cuCtxSynchronize"))
    return;
  static const char image[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry work() { ret; }\n";
  CUcontext context{};
  CUmodule module{};
  CUfunction kernel{};
  if (init(0) != CUDA_SUCCESS || retain(&context, 0) != CUDA_SUCCESS ||
      set_current(context) != CUDA_SUCCESS || load(&module, image) != CUDA_SUCCESS ||
      get_function(&kernel, module, "work") != CUDA_SUCCESS)
    return;
  for (int step = 0; step < kSteps; ++step) {
    nvtxRangePushA("step");
    for (int i = 0; i < kLaunches; ++i)
      launch(kernel, 8, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr);
    synchronize();
    nvtxRangePop();
  }
}

__attribute__((constructor)) void open_gpu_at_once() {
  if (getenv("HAZARD_GPU") == nullptr) open_gpu();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void hazard_open_gpu();
extern "C" void hazard_open_gpu() { open_gpu(); }

// SPDX-License-Identifier: Apache-2.0
// A small CUDA program for a first look: steps of two layers, one held by memory, one by compute.
// It opens the driver at run time and brings its kernels as PTX, so that it builds everywhere and
// runs on any NVIDIA GPU. Its work is known exactly: an element costs 2 FLOP and 12 bytes in
// `triad`, 1024 FLOP and 8 bytes in `polynomial`.
#include <cuda.h>
#include <dlfcn.h>

#include <nvtx3/nvToolsExt.h>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/gpu/sample_kernels.h"

namespace {

using gable::sample::kFmasPerElement;

constexpr unsigned kElements = 1U << 24;  // 64 MiB an array: more than any L2
constexpr unsigned kBlock = 256;
constexpr float kFactor = 0.5F;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "gable-sample: %s\n", what.c_str());
  std::exit(1);
}

template <class Function>
Function* driver_call(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) fail("there is no NVIDIA driver (libcuda.so.1) on this machine");
  auto* const found = reinterpret_cast<Function*>(dlsym(driver, name));
  if (found == nullptr) fail(std::string("the driver has no ") + name);
  return found;
}

#define GABLE_TEXT_OF(x) #x
#define GABLE_NAME_OF(x) GABLE_TEXT_OF(x)
// The header maps some names to versioned ones (cuMemAlloc is cuMemAlloc_v2): the mapped name is
// what the driver exports.
#define GABLE_CALL(function, ...) \
  check(driver_call<decltype(function)>(GABLE_NAME_OF(function))(__VA_ARGS__), #function)

void check(CUresult result, const char* call) {
  if (result != CUDA_SUCCESS) fail(std::string(call) + " answers " + std::to_string(result));
}

struct Layer {
  const char* name;
  CUfunction kernel;
};

void run_layer(const Layer& layer, CUdeviceptr y, CUdeviceptr x) {
  float factor = kFactor;
  unsigned count = kElements;
  void* arguments[] = {&y, &x, &factor, &count};
  nvtxRangePushA(layer.name);
  GABLE_CALL(cuLaunchKernel, layer.kernel, kElements / kBlock, 1, 1, kBlock, 1, 1, 0, nullptr,
             arguments, nullptr);
  nvtxRangePop();
}

float expected_polynomial(float x) {
  float sum = 1;
  for (int i = 0; i < kFmasPerElement; ++i) sum = std::fmaf(sum, kFactor, x);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 40;
  CUdevice device = 0;
  CUcontext context = nullptr;
  GABLE_CALL(cuInit, 0);
  GABLE_CALL(cuDeviceGet, &device, 0);
  GABLE_CALL(cuDevicePrimaryCtxRetain, &context, device);
  GABLE_CALL(cuCtxSetCurrent, context);

  CUmodule module = nullptr;
  Layer triad{"triad", nullptr}, polynomial{"polynomial", nullptr};
  GABLE_CALL(cuModuleLoadData, &module, gable::sample::kKernels);
  GABLE_CALL(cuModuleGetFunction, &triad.kernel, module, "triad");
  GABLE_CALL(cuModuleGetFunction, &polynomial.kernel, module, "polynomial");

  const std::size_t bytes = kElements * sizeof(float);
  std::vector<float> host(kElements, 1.0F);
  CUdeviceptr x = 0, y = 0;
  GABLE_CALL(cuMemAlloc, &x, bytes);
  GABLE_CALL(cuMemAlloc, &y, bytes);
  GABLE_CALL(cuMemcpyHtoD, x, host.data(), bytes);
  GABLE_CALL(cuMemcpyHtoD, y, host.data(), bytes);

  for (int step = 0; step < steps; ++step) {
    nvtxRangePushA("step");
    nvtxRangePushA("network");
    run_layer(triad, y, x);
    run_layer(polynomial, y, x);
    nvtxRangePop();
    GABLE_CALL(cuCtxSynchronize);
    nvtxRangePop();
  }

  GABLE_CALL(cuMemcpyDtoH, host.data(), y, bytes);
  std::printf("%d steps, y[0] = %g, expected %g\n", steps, static_cast<double>(host[0]),
              static_cast<double>(expected_polynomial(1.0F)));
  GABLE_CALL(cuMemFree, x);
  GABLE_CALL(cuMemFree, y);
  GABLE_CALL(cuModuleUnload, module);
  GABLE_CALL(cuDevicePrimaryCtxRelease, device);
  return 0;
}

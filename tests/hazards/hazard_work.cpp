// SPDX-License-Identifier: Apache-2.0
#include "tests/hazards/hazard_work.h"

#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

CUfunction g_kernel;

void await_report() {
  const char* folder = std::getenv("HAZARD_REPORTS");
  for (int i = 0; folder != nullptr && i < 2000; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".json") return;
    }
    usleep(10000);
  }
}

}  // namespace

void check(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s failed: %d\n", what, static_cast<int>(code));
  std::exit(99);
}

CUcontext open_gpu() {
  CUdevice device{};
  CUcontext context{};
  CUmodule module{};
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  static const char image[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry work() { ret; }\n";
  check(cuModuleLoadData(&module, image), "cuModuleLoadData");
  check(cuModuleGetFunction(&g_kernel, module, "work"), "cuModuleGetFunction");
  return context;
}

void launch(int count) {
  for (int i = 0; i < count; ++i) {
    check(cuLaunchKernel(g_kernel, 8, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr),
          "cuLaunchKernel");
  }
}

void steps(int count) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA(("step " + std::to_string(i)).c_str());
    nvtxRangePushA("layer");
    launch(4);
    nvtxRangePop();
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    nvtxRangePop();
  }
}

void work() {
  open_gpu();
  steps(12);
  std::puts("worked");
}

void work_then_wait() {
  work();
  std::fflush(stdout);
  await_report();
}

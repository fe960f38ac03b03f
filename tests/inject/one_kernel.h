/* SPDX-License-Identifier: Apache-2.0
 * For programs in C: a GPU with one kernel, and its launch. */
#ifndef GABLE_TESTS_ONE_KERNEL_H
#define GABLE_TESTS_ONE_KERNEL_H

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

static CUfunction kernel;

static void check(CUresult code, const char* what) {
  if (code == CUDA_SUCCESS) return;
  fprintf(stderr, "%s failed: %d\n", what, (int)code);
  exit(99);
}

static void open_gpu(void) {
  static const char image[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry work() { ret; }\n";
  CUdevice device;
  CUcontext context;
  CUmodule module;
  check(cuInit(0), "cuInit");
  check(cuDeviceGet(&device, 0), "cuDeviceGet");
  check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  check(cuModuleLoadData(&module, image), "cuModuleLoadData");
  check(cuModuleGetFunction(&kernel, module, "work"), "cuModuleGetFunction");
}

static void launch_kernel(void) {
  check(cuLaunchKernel(kernel, 8, 1, 1, 64, 1, 1, 0, 0, 0, 0), "cuLaunchKernel");
}

#endif

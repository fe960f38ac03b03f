/* SPDX-License-Identifier: Apache-2.0
 * A program in C that names its layers, its steps and what is to be profiled itself. */
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#include "inject/gable.h"

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

static void launch(const char* layer, int count) {
  int range = gable_range_begin(layer), i;
  for (i = 0; i < count; ++i)
    check(cuLaunchKernel(kernel, 8, 1, 1, 64, 1, 1, 0, 0, 0, 0), "cuLaunchKernel");
  gable_range_end(range);
}

static void steps(int count, int launches) {
  int i;
  for (i = 0; i < count; ++i) {
    launch("first", launches);
    launch("second", 1);
    gable_step_border();
  }
}

int main(void) {
  struct gable_schedule schedule = GABLE_SCHEDULE_DEFAULT;
  gable_step_border(); /* before there is a GPU: nothing comes of it */
  open_gpu();
  steps(30, 1);
  schedule.active = 2;
  schedule.wait = 0;
  schedule.include = "second";
  gable_profile_begin_block(&schedule);
  steps(60, 3);
  gable_profile_end_block();
  steps(10, 1);
  puts("done");
  return 7;
}

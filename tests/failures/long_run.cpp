// SPDX-License-Identifier: Apache-2.0
// The program of the failure matrix: many short steps, so that calls made once a window are made a
// hundred times. long_run [steps [wait]]
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "tests/hazards/hazard_work.h"

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 140;
  open_gpu();
  CUdeviceptr memory{};
  char host[64] = {};
  check(cuMemAlloc(&memory, sizeof host), "cuMemAlloc");
  for (int i = 0; i < steps; ++i) {
    nvtxRangePushA("step");
    check(cuMemcpyHtoDAsync(memory, host, sizeof host, nullptr), "cuMemcpyHtoDAsync");
    for (const char* layer : {"first", "second"}) {
      nvtxRangePushA(layer);
      launch(1);
      nvtxRangePop();
    }
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    nvtxRangePop();
  }
  if (argc > 2) usleep(700000);  // until the report is written and CUPTI is let go
  std::puts("worked");
  return 3;
}

// SPDX-License-Identifier: Apache-2.0
// The program of the failure matrix: many short steps, so that calls made once a window are made a
// hundred times. long_run [steps [wait]]; LONG_RUN_LAUNCHES: kernels in a row in each layer
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "tests/hazards/hazard_work.h"

namespace {

// A graph that is never launched: what is asked about its nodes may fail too.
void make_graph(CUdeviceptr memory) {
  CUstream stream{};
  CUgraph graph{};
  CUgraphExec exec{};
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  check(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  check(cuMemsetD8Async(memory, 0, 1, stream), "cuMemsetD8Async");
  check(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  check(cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
  check(cuGraphDestroy(graph), "cuGraphDestroy");
  check(cuGraphExecDestroy(exec), "cuGraphExecDestroy");
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 140;
  const char* const in_row = std::getenv("LONG_RUN_LAUNCHES");
  const int launches = in_row == nullptr ? 1 : std::atoi(in_row);
  open_gpu();
  CUdeviceptr memory{};
  char host[64] = {};
  check(cuMemAlloc(&memory, sizeof host), "cuMemAlloc");
  make_graph(memory);
  for (int i = 0; i < steps; ++i) {
    nvtxRangePushA("step");
    check(cuMemcpyHtoDAsync(memory, host, sizeof host, nullptr), "cuMemcpyHtoDAsync");
    for (const char* layer : {"first", "second"}) {
      nvtxRangePushA(layer);
      launch(launches);
      nvtxRangePop();
    }
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    nvtxRangePop();
  }
  check(cuMemFree(memory), "cuMemFree");
  if (argc > 2) usleep(700000);  // until the report is written and CUPTI is let go
  std::puts("worked");
  return 3;
}

// SPDX-License-Identifier: Apache-2.0
// The program of the failure matrix: many short steps, so that calls made once a window are made a
// hundred times. long_run [steps [wait | threads | silence | pause | beats]]
//   wait: goes on after the last step until the report is written and CUPTI is let go
//   threads: the second layer's launches come from another thread, beside the first one's
//   pause: takes a second and a half before the first step
//   beats: rests for a millisecond after each step
//   silence: goes on for three seconds after the last step and launches nothing
// LONG_RUN_LAUNCHES: kernels in a row in each layer
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>

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

int g_launches = 1;

void work_in(const char* layer) {
  nvtxRangePushA(layer);
  launch(g_launches);
  nvtxRangePop();
}

// Runs the second layer of every step on a thread of its own, beside the first one.
class Second {
 public:
  Second(CUcontext context, int steps) : thread_([this, context, steps] { run(context, steps); }) {}
  ~Second() { thread_.join(); }
  Second(const Second&) = delete;
  Second& operator=(const Second&) = delete;
  void begin() { meet_.arrive_and_wait(); }
  void end() { meet_.arrive_and_wait(); }

 private:
  void run(CUcontext context, int steps) {
    check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    for (int i = 0; i < steps; ++i) {
      begin();
      work_in("second");
      end();
    }
  }

  std::barrier<> meet_{2};
  std::thread thread_;
};

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 140;
  const std::string_view how = argc > 2 ? argv[2] : "";
  CUcontext context = open_gpu();
  const char* const in_row = std::getenv("LONG_RUN_LAUNCHES");
  g_launches = in_row == nullptr ? 1 : std::atoi(in_row);
  CUdeviceptr memory{};
  char host[64] = {};
  check(cuMemAlloc(&memory, sizeof host), "cuMemAlloc");
  make_graph(memory);
  if (how == "pause") usleep(1500000);
  std::optional<Second> second;
  if (how == "threads") second.emplace(context, steps);
  for (int i = 0; i < steps; ++i) {
    nvtxRangePushA("step");
    check(cuMemcpyHtoDAsync(memory, host, sizeof host, nullptr), "cuMemcpyHtoDAsync");
    if (second) second->begin();
    work_in("first");
    second ? second->end() : work_in("second");
    check(cuCtxSynchronize(), "cuCtxSynchronize");
    nvtxRangePop();
    if (how == "beats") usleep(1000);
  }
  second.reset();
  check(cuMemFree(memory), "cuMemFree");
  if (how == "wait") usleep(700000);
  if (how == "silence") usleep(3000000);
  std::puts("worked");
  return 3;
}

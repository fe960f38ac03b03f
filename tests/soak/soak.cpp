// SPDX-License-Identifier: Apache-2.0
// Launches at a steady rate, in steps of two thousand in ten layers, and watches its own memory.
// soak SECONDS [RATE]: as many launches as that makes, however long they take.
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "tests/hazards/hazard_work.h"

namespace {

constexpr int kLayers = 10, kLaunches = 200;  // of a layer

long resident_kb() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

void step() {
  nvtxRangePushA("step");
  for (int layer = 0; layer < kLayers; ++layer) {
    nvtxRangePushA(("layer" + std::to_string(layer)).c_str());
    launch(kLaunches);
    nvtxRangePop();
  }
  check(cuCtxSynchronize(), "cuCtxSynchronize");
  nvtxRangePop();
}

}  // namespace

int main(int argc, char** argv) {
  const long seconds = argc > 1 ? std::atol(argv[1]) : 10;
  const long rate = argc > 2 ? std::atol(argv[2]) : 100'000;
  const long count = seconds * rate / (kLayers * kLaunches);
  open_gpu();
  const auto began = std::chrono::steady_clock::now();
  long early_kb = 0;
  for (long i = 0; i < count; ++i) {
    step();
    if (i == count / 4) early_kb = resident_kb();
    const auto due =
        std::chrono::nanoseconds((i + 1) * kLayers * kLaunches * 1'000'000'000L / rate);
    std::this_thread::sleep_until(began + due);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("%ld %.3f %ld %ld\n", count * kLayers * kLaunches, took.count(), early_kb,
              resident_kb());
}

// SPDX-License-Identifier: Apache-2.0
// Launches at a steady rate, in steps of two thousand in ten layers, and watches its own memory.
// soak SECONDS [RATE]: as many launches as that makes, however long they take.
// Prints launches, seconds, and of a quarter of the run and of its end the kB resident and the kB
// that are allocated. What is resident grows on as the machine gets to buffers of a fixed size, and
// to code, for the first time; what is allocated does not.
#include <dlfcn.h>
#include <malloc.h>
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

struct Memory {
  long resident_kb = 0, allocated_kb = 0;
};

Memory memory() {
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  // Looked up: it is newer than the C library that the packages are compiled for.
  using Ask = struct mallinfo2 (*)();
  static const auto ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "mallinfo2"));
  if (ask == nullptr) {
    std::fputs("soak: this C library does not say what is allocated; 2.33 and newer ones do\n",
               stderr);
    std::exit(2);
  }
  const struct mallinfo2 heap = ask();
  return {resident * (sysconf(_SC_PAGESIZE) / 1024),
          static_cast<long>((heap.uordblks + heap.hblkhd) / 1024)};
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
  const long count = seconds * rate / (long{kLayers} * kLaunches);
  open_gpu();
  const auto began = std::chrono::steady_clock::now();
  Memory early;
  for (long i = 0; i < count; ++i) {
    step();
    if (i == count / 4) early = memory();
    const auto due =
        std::chrono::nanoseconds((i + 1) * kLayers * kLaunches * 1'000'000'000L / rate);
    std::this_thread::sleep_until(began + due);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  const Memory late = memory();
  std::printf("%ld %.3f %ld %ld %ld %ld\n", count * kLayers * kLaunches, took.count(),
              early.resident_kb, late.resident_kb, early.allocated_kb, late.allocated_kb);
}

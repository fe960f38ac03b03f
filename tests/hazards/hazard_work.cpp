// SPDX-License-Identifier: Apache-2.0
#include "tests/hazards/hazard_work.h"

#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

int g_number = 2;

namespace {

CUfunction g_kernel;

// The same pauses in every run: a yield now and then, more rarely a sleep. What comes of them is up
// to the scheduler.
class Pauses {
 public:
  explicit Pauses(int thread)
      : state_(0x9E3779B97F4A7C15ull * (static_cast<unsigned>(thread) + 1)) {}
  void next() {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    const auto drawn = static_cast<unsigned>(state_ >> 40);
    if (drawn % 64 == 0)
      usleep(drawn / 64 % 200);
    else if (drawn % 4 == 0)
      std::this_thread::yield();
  }

 private:
  std::uint64_t state_;
};

void launch_with_pauses(int thread, bool steps, int launches) {
  Pauses pauses(thread);
  for (int done = 0; done < launches; done += 4) {
    if (steps) nvtxRangePushA("step");
    nvtxRangePushA("layer");
    for (int i = 0; i < 4; ++i) {
      launch(1);
      pauses.next();
    }
    nvtxRangePop();
    if (done % 64 == 0) check(cuCtxSynchronize(), "cuCtxSynchronize");
    if (steps) nvtxRangePop();
    pauses.next();
  }
}

}  // namespace

void await_report(bool complete) {
  const char* folder = std::getenv("HAZARD_REPORTS");
  for (int i = 0; folder != nullptr && i < 2000; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".json") continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      if (!complete || text.str().find("\"complete\": true") != std::string::npos) return;
    }
    usleep(10000);
  }
}

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
  await_report(true);
}

void launch_freely(int threads, bool steps) {
  constexpr int kLaunches = 12800;  // of all threads together
  const CUcontext context = open_gpu();
  std::atomic<int> waiting{threads};
  std::vector<std::thread> launchers;
  launchers.reserve(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t)
    launchers.emplace_back([&, t] {
      check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      launch_with_pauses(t, steps, kLaunches / threads);
    });
  for (auto& thread : launchers) thread.join();
  check(cuCtxSynchronize(), "cuCtxSynchronize");
  std::puts("launched");
}

// SPDX-License-Identifier: Apache-2.0
// Every launch of the program is counted once, as the kernel that it is, in the layer and window in
// which it was made.
#include "collector/session/launch_path.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/unit/collector/script/run_on_script.h"

namespace gable {
namespace {

// A launch as the driver would tell of it, whatever the handle and the name.
class RawLaunch {
 public:
  RawLaunch() {
    parameters_.f = reinterpret_cast<CUfunction>(this);
    parameters_.gridDimX = parameters_.gridDimY = parameters_.gridDimZ = 1;
    parameters_.blockDimX = parameters_.blockDimY = parameters_.blockDimZ = 1;
  }
  void operator()(RunOnScript& run, const char* name) const {
    CUpti_CallbackData data{};
    data.functionParams = &parameters_;
    data.symbolName = name;
    for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
      data.callbackSite = site;
      Callbacks::entry(&run.callbacks, CUPTI_CB_DOMAIN_DRIVER_API,
                       CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
    }
  }

 private:
  cuLaunchKernel_params parameters_{};
};

constexpr char kTimesAlone[] = "--phases time --wait 0 --warmup 0 --active 2";

TEST(LaunchPath, ALaunchIsOfTheLayerThatIsOpen) {
  RunOnScript run(kTimesAlone);
  for (int i = 0; i < 3; ++i) {
    run.push("encoder");
    run.launch("gemm");
    run.pop();
    run.launch("relu");
    run.c.windows.step_point();
  }
  EXPECT_EQ(run.layer_of(run.kernel("gemm")), "encoder");
  EXPECT_EQ(run.layer_of(run.kernel("relu")), "");
}

TEST(LaunchPath, TimesAreThoseOfTheLaunchsOwnRecord) {
  RunOnScript run(kTimesAlone);
  run.step({"first"});  // windows of steps begin with the first border
  for (int i = 0; i < 3; ++i) {
    run.kernel_ns = 300;
    run.launch("short");
    run.kernel_ns = 900;
    run.launch("long");
    run.c.windows.step_point();
  }
  EXPECT_EQ(run.kernel("short").time_mean_ns, 300.0);
  EXPECT_EQ(run.kernel("long").time_mean_ns, 900.0);
  EXPECT_EQ(run.report().run.lost.records, 0u);
}

TEST(LaunchPath, WhatCuptiLaunchesOutOfACallOfOursIsNotTheProgramsOwn) {
  RunOnScript run(kTimesAlone);
  run.steps(2, {"gemm"});
  this_thread().busy = true;
  run.launch("instrumentation");
  this_thread().busy = false;
  run.steps(2, {"gemm"});
  EXPECT_EQ(run.kernel("instrumentation").symbol, "");
  EXPECT_EQ(run.kernel("gemm").symbol, "gemm");
}

TEST(LaunchPath, AHandleMayMeanAnotherKernelOnceAModuleWasUnloaded) {
  RunOnScript run(kTimesAlone);
  const RawLaunch launch;
  char name[] = "before";
  launch(run, name);
  std::memcpy(name, "behind", sizeof name);  // the next module lies where the last one lay
  run.call(CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, CUPTI_API_EXIT);
  launch(run, name);
  EXPECT_EQ(run.kernel("before").symbol, "before");
  EXPECT_EQ(run.kernel("behind").symbol, "behind");
}

TEST(LaunchPath, AContextWhoseGpuIsUnknownIsSaidOnceAndCountsAsGpuZero) {
  RunOnScript run(kTimesAlone);
  run.cupti.fail("cuptiGetDeviceId", CUPTI_ERROR_UNKNOWN);
  run.steps(3, {"gemm"});
  EXPECT_TRUE(run.said("which GPU a context belongs to"));
  EXPECT_EQ(run.kernel("gemm").device, 0);
}

TEST(LaunchPath, ALaunchIntoACaptureIsNoLaunch) {
  RunOnScript run(kTimesAlone);
  run.steps(2, {"gemm"});
  run.call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUPTI_API_ENTER);
  run.enter_launch("captured");
  CUpti_GraphData node{};
  node.graph = reinterpret_cast<CUgraph>(std::uintptr_t{7});
  node.node = reinterpret_cast<CUgraphNode>(std::uintptr_t{70});
  node.nodeType = CU_GRAPH_NODE_TYPE_KERNEL;
  run.resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &node);
  run.exit_launch();
  run.call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUPTI_API_EXIT);
  EXPECT_EQ(run.launches_in_step(), 0u);
}

// Another stream captures: this one's launches run.
TEST(LaunchPath, ALaunchBesideACaptureIsCounted) {
  RunOnScript run(kTimesAlone);
  run.steps(2, {"gemm"});
  run.call(CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, CUPTI_API_ENTER);
  run.launch("beside");
  run.enter_launch("failed");
  run.exit_launch(CUDA_ERROR_LAUNCH_FAILED);
  run.call(CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, CUPTI_API_EXIT);
  EXPECT_EQ(run.launches_in_step(), 1u);
}

TEST(LaunchPath, LaunchesOfManyThreadsAreAllCounted) {
  RunOnScript run("--phases time --wait 0 --warmup 0 --active 1 --window 1000000");
  constexpr int kThreads = 4, kEach = 3000;  // more than a thread's ring holds
  const RawLaunch launch;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) launch(run, "gemm");
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(run.kernel("gemm").launches, kThreads * kEach);
}

TEST(WaitPath, AWaitIsTimeOfItsLayerAndTheNextLaunchTellsHowLongItTakesToArrive) {
  RunOnScript run(kTimesAlone);
  run.step({"gemm"});  // steps begin with the first border
  for (int i = 0; i < 3; ++i) {
    run.push("loss");
    run.launch("gemm");
    run.call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUPTI_API_ENTER);
    run.clock_ns += 40'000;
    run.call(CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, CUPTI_API_EXIT);
    run.pop();
    run.c.windows.step_point();
  }
  for (const auto& layer : run.report().layers) {
    if (layer.path != std::vector<std::string>{"loss"}) continue;
    ASSERT_TRUE(layer.sync_ns.has_value());
    EXPECT_NEAR(*layer.sync_ns, 41'000, 1'000);
    return;
  }
  FAIL() << "the layer that waits has no row";
}

}  // namespace
}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Which launches become ranges: threads, streams, contexts, late modules, callbacks, names.
#include <thread>

#include "tests/gpu/probe/experiments.h"

namespace gable::probe {
namespace {

constexpr int kLaunches = 20;

void threads() {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable() ||
      !profiler.configure(hw_pass(), CUPTI_AutoRange, CUPTI_UserReplay, 128) || !profiler.start())
    return answer(false, "The window could not be started.", {});
  const CUstream other = Work::stream();
  for (int i = 0; i < kLaunches; ++i) work.numbered(i);
  std::thread second([&] {
    GABLE_CU(cuCtxSetCurrent, work.context());
    for (int i = 0; i < kLaunches; ++i) work.numbered(kLaunches + i, other);
  });
  second.join();
  work.gpu.wait();
  bool elsewhere = false;
  std::thread helper([&] {
    GABLE_CU(cuCtxSetCurrent, work.context());
    elsewhere = profiler.stop() && profiler.decode();
  });
  helper.join();
  if (!elsewhere) (void)(profiler.stop() && profiler.decode());
  const auto ranges = profiler.read();
  const auto ctas = profiler.values(ranges, kCtas);
  const bool all = same_grids(ctas, 2 * kLaunches);
  answer(all && elsewhere,
         std::to_string(ranges.size()) + " ranges of " + std::to_string(2 * kLaunches) +
             " launches from two threads, " + std::to_string(in_order(ctas)) +
             " in their order; Stop and Decode on a third thread " +
             (elsewhere ? "work" : "do not work"),
         {{"launches", 2 * kLaunches},
          {"ranges", ranges.size()},
          {"all_counted", all},
          {"in_order", in_order(ctas)},
          {"stop_on_another_thread", elsewhere}});
}

// Two contexts of this process, each with its own profiler.
void two_objects(CUdevice device, const char* what) {
  const Work work;
  CUcontext other = nullptr;
  using Create = CUresult(CUcontext*, unsigned, CUdevice);
  gpu::good(gpu::driver_call<Create>("cuCtxCreate_v2")(&other, 0, device), "cuCtxCreate");
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  GABLE_CU(cuModuleLoadData, &module, kKernels);
  GABLE_CU(cuModuleGetFunction, &kernel, module, "probe_fma");
  CUdeviceptr out = 0;
  GABLE_CU(cuMemAlloc, &out, std::size_t{4} * (kGrid + kGrids) * kBlock);
  GABLE_CU(cuCtxSetCurrent, work.context());
  start_engine();
  Profiler first(work.context()), second(other);
  const auto begin = [](Profiler& profiler) {
    return profiler.enable() &&
           profiler.configure(hw_pass(), CUPTI_AutoRange, CUPTI_UserReplay, 64) && profiler.start();
  };
  const auto finish = [](Profiler& profiler) {
    return profiler.stop() && profiler.decode() ? profiler.values(profiler.read(), kCtas)
                                                : std::vector<double>{};
  };
  const bool one = begin(first);
  GABLE_CU(cuCtxSetCurrent, other);
  const bool two = begin(second);
  for (int i = 0; i < kLaunches; ++i) {
    GABLE_CU(cuCtxSetCurrent, work.context());
    work.numbered(0);
    GABLE_CU(cuCtxSetCurrent, other);
    work.gpu.launch(kernel, {Work::grid_of(1), kBlock}, out, out, kTurns);
  }
  work.gpu.wait();
  const std::size_t right_second = two ? equal(finish(second), Work::grid_of(1)) : 0;
  GABLE_CU(cuCtxSetCurrent, work.context());
  work.gpu.wait();
  const std::size_t right_first = one ? equal(finish(first), Work::grid_of(0)) : 0;
  answer(one && (!two || (right_first == kLaunches && right_second == kLaunches)),
         std::string(what) + " at once: " + std::to_string(right_first) + " and " +
             std::to_string(right_second) + " of " + std::to_string(kLaunches) +
             " launches counted by their own object",
         {{"first_started", one},
          {"second_started", two},
          {"right_first", right_first},
          {"right_second", right_second}});
}

void two_contexts() { two_objects(0, "two contexts of one device"); }

void two_devices() {
  GABLE_CU(cuInit, 0);
  int count = 0;
  GABLE_CU(cuDeviceGetCount, &count);
  if (count < 2) throw Skipped("There is one GPU here.");
  two_objects(1, "two devices");
}

// A module that is loaded while an instrumented window is open.
void late_module() {
  Work work;
  start_engine();
  Profiler profiler(work.context());
  std::vector<Profiler::Range> ranges;
  double first_us = 0, second_us = 0;
  const bool done =
      profiler.enable() && window(
                               profiler, flops_pass(), 64,
                               [&] {
                                 const auto began = std::chrono::steady_clock::now();
                                 const CUfunction late = work.gpu.kernel(kLateKernel, "probe_late");
                                 work.gpu.launch(late, {kGrid, kBlock}, work.out, work.out, kTurns);
                                 work.gpu.wait();
                                 first_us = us_since(began);
                                 const auto again = std::chrono::steady_clock::now();
                                 work.gpu.launch(late, {kGrid, kBlock}, work.out, work.out, kTurns);
                                 work.gpu.wait();
                                 second_us = us_since(again);
                               },
                               ranges);
  const std::size_t right = equal(profiler.values(ranges, kFadd), Work::ffma());
  answer(done && right == 2,
         std::to_string(right) + " of 2 launches of a kernel loaded within the window counted; " +
             "loading and first launch " + std::to_string(static_cast<long>(first_us)) +
             " us, second " + std::to_string(static_cast<long>(second_us)) + " us",
         {{"right", right},
          {"first_us", first_us},
          {"second_us", second_us},
          {"module_loading", std::getenv("CUDA_MODULE_LOADING") == nullptr
                                 ? "default"
                                 : std::getenv("CUDA_MODULE_LOADING")}});
}

// Start and Stop inside the callbacks of launches, as an injected library does.
void callbacks() {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  constexpr int kFrom = 10, kTo = 30;
  bool started = false, stopped = false;
  follow_launches([&](int number) {
    if (number == kFrom)
      started = profiler.enable() &&
                profiler.configure(hw_pass(), CUPTI_AutoRange, CUPTI_UserReplay, 64) &&
                profiler.start();
    if (number == kTo && started) stopped = profiler.stop() && profiler.decode();
  });
  for (int i = 0; i < 40; ++i) work.numbered(i - kFrom + static_cast<int>(kGrids) * 2);
  work.gpu.wait();
  std::vector<double> ctas;
  if (stopped) ctas = profiler.values(profiler.read(), kCtas);
  const std::size_t right = in_order(ctas);
  answer(stopped && ctas.size() == kTo - kFrom && right == ctas.size(),
         std::string("Start and Stop inside launch callbacks ") +
             (stopped ? "work: " + std::to_string(ctas.size()) + " ranges of the " +
                            std::to_string(kTo - kFrom) + " launches between, " +
                            std::to_string(right) + " in order"
                      : "do not work"),
         {{"started", started},
          {"stopped", stopped},
          {"ranges", ctas.size()},
          {"in_order", right},
          {"callbacks", launches_followed()}});
}

// A user range around every launch, on two streams whose kernels can overlap.
void user_launch() {
  const Work work;
  const CUstream streams[2] = {Work::stream(), Work::stream()};
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable() || !profiler.configure(hw_pass(), CUPTI_UserRange, CUPTI_UserReplay, 64) ||
      !profiler.start())
    return answer(false, "The window could not be started.", {});
  for (int i = 0; i < kLaunches; ++i) {
    profiler.push(std::to_string(i).c_str());
    work.numbered(i, streams[i % 2]);
    profiler.pop();
  }
  work.gpu.wait();
  const bool done = profiler.stop() && profiler.decode();
  const auto ranges = done ? profiler.read() : std::vector<Profiler::Range>{};
  const auto ctas = profiler.values(ranges, kCtas);
  std::size_t right = 0, named_in_order = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const int number = std::atoi(ranges[i].name.c_str());
    right += ctas[i] == Work::grid_of(number) ? 1 : 0;
    named_in_order += number == static_cast<int>(i) ? 1 : 0;
  }
  answer(done && right == kLaunches,
         std::to_string(right) + " of " + std::to_string(kLaunches) +
             " user ranges around one launch count that launch alone, " +
             std::to_string(named_in_order) + " come back in order",
         {{"launches", kLaunches},
          {"ranges", ranges.size()},
          {"right", right},
          {"in_order", named_in_order},
          {"dropped", profiler.dropped()}});
}

void same_name() {
  const Work work;
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable() || !profiler.configure(hw_pass(), CUPTI_UserRange, CUPTI_UserReplay, 16) ||
      !profiler.start())
    return answer(false, "The window could not be started.", {});
  for (int i = 0; i < 3; ++i) {
    profiler.push("one name");
    work.fma();
    profiler.pop();
  }
  work.gpu.wait();
  const bool done = profiler.stop() && profiler.decode();
  const auto ranges = done ? profiler.read() : std::vector<Profiler::Range>{};
  const auto ctas = profiler.values(ranges, kCtas);
  answer(ranges.size() == 1 && ctas[0] == 3.0 * kGrid,
         "three ranges of one name come back as " + std::to_string(ranges.size()),
         {{"pushed", 3},
          {"ranges", ranges.size()},
          {"thread_blocks_of_first", ctas.empty() ? 0 : ctas[0]},
          {"thread_blocks_of_all", 3 * kGrid}});
}

}  // namespace

void add_launches(std::vector<Experiment>& list) {
  list.insert(list.end(), {{"callbacks", callbacks},
                           {"user_launch", user_launch},
                           {"same_name", same_name},
                           {"threads", threads},
                           {"late_module", late_module},
                           {"two_contexts", two_contexts},
                           {"two_devices", two_devices}});
}

}  // namespace gable::probe

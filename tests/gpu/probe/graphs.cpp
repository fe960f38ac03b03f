// SPDX-License-Identifier: Apache-2.0
// Graphs, captures, copies, and kernels that run more than once.
#include <cmath>

#include "tests/gpu/probe/experiments.h"

namespace gable::probe {
namespace {

constexpr int kNodes = 5;

struct Graph {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
};

CUgraph captured(CUstream stream, const std::function<void()>& launches) {
  CUgraph graph = nullptr;
  GABLE_CU(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  launches();
  GABLE_CU(cuStreamEndCapture, stream, &graph);
  return graph;
}

Graph graph_of(const Work& work, CUstream stream, int nodes) {
  Graph made;
  made.graph = captured(stream, [&] { work.fma(nodes, stream); });
  GABLE_CU(cuGraphInstantiate, &made.exec, made.graph, 0);
  return made;
}

void graph_in(CUpti_ProfilerRange range, CUpti_ProfilerReplayMode replay) {
  const Work work;
  const CUstream stream = Work::stream();
  const Graph graph = graph_of(work, stream, kNodes);
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable() || !profiler.configure(hw_pass(), range, replay, 64) || !profiler.start())
    return answer(false, "The window could not be started.", {});
  const bool pushed = range != CUPTI_UserRange || profiler.push("graph");
  const CUresult launched = GABLE_CU_RESULT(cuGraphLaunch, graph.exec, stream);
  const CUresult waited = GABLE_CU_RESULT(cuStreamSynchronize, stream);
  if (range == CUPTI_UserRange && pushed) profiler.pop();
  const bool done = profiler.stop() && profiler.decode();
  const auto ranges = done ? profiler.read() : std::vector<Profiler::Range>{};
  double sum = 0;
  for (const double ctas : profiler.values(ranges, kCtas)) sum += ctas;
  const bool counted = sum == static_cast<double>(kGrid) * kNodes;
  const bool automatic = range == CUPTI_AutoRange, replayed = replay == CUPTI_KernelReplay;
  const bool expected = !automatic ? counted
                        : replayed ? done && (counted || ranges.empty())
                                   : !counted;
  answer(launched == CUDA_SUCCESS && waited == CUDA_SUCCESS && expected,
         "a graph of " + std::to_string(kNodes) + " kernels gives " +
             std::to_string(ranges.size()) + " ranges, its thread blocks " +
             (counted ? "all counted" : "not all counted"),
         {{"kernels", kNodes},
          {"launch_code", static_cast<int>(launched)},
          {"wait_code", static_cast<int>(waited)},
          {"window_done", done},
          {"ranges", ranges.size()},
          {"thread_blocks", sum},
          {"thread_blocks_expected", kGrid * kNodes},
          {"dropped", profiler.dropped()}});
}

void graph_auto() { graph_in(CUPTI_AutoRange, CUPTI_UserReplay); }
void graph_user() { graph_in(CUPTI_UserRange, CUPTI_UserReplay); }
void graph_replay() { graph_in(CUPTI_AutoRange, CUPTI_KernelReplay); }

// A capture while an automatic window is open. The product ends the window before.
void capture() {
  const Work work;
  const CUstream stream = Work::stream();
  start_engine();
  Profiler profiler(work.context());
  if (!profiler.enable() || !profiler.configure(hw_pass(), CUPTI_AutoRange, CUPTI_UserReplay, 64) ||
      !profiler.start())
    return answer(false, "The window could not be started.", {});
  work.fma();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  const CUresult begun =
      GABLE_CU_RESULT(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  const CUresult launched =
      work.gpu.try_launch(work.fma_kernel, {kGrid, kBlock, stream}, work.out, work.out, kTurns);
  const CUresult ended = GABLE_CU_RESULT(cuStreamEndCapture, stream, &graph);
  const CUresult made =
      graph == nullptr ? ended : GABLE_CU_RESULT(cuGraphInstantiate, &exec, graph, 0);
  const bool done = profiler.stop() && profiler.decode();
  const std::size_t ranges = done ? profiler.read().size() : 0;
  const bool harmless = begun == CUDA_SUCCESS && launched == CUDA_SUCCESS &&
                        ended == CUDA_SUCCESS && made == CUDA_SUCCESS;
  answer(harmless && ranges == 1 && profiler.dropped() == 0,
         harmless ? "a capture within a window works, and the launch before it keeps its range"
                  : "a capture within a window fails",
         {{"begin_code", static_cast<int>(begun)},
          {"launch_code", static_cast<int>(launched)},
          {"end_code", static_cast<int>(ended)},
          {"instantiate_code", static_cast<int>(made)},
          {"window_done", done},
          {"ranges", ranges},
          {"dropped", profiler.dropped()}});
}

// Copies, memsets and the smallest kernel.
void copies() {
  Work work;
  const CUfunction spin = work.gpu.kernel(kKernels, "probe_spin");
  const CUdeviceptr from = work.gpu.memory(1 << 20), to = work.gpu.memory(1 << 20);
  start_engine();
  Profiler profiler(work.context());
  std::vector<Profiler::Range> ranges;
  const bool done = profiler.enable() &&
                    window(
                        profiler, hw_pass(), 64,
                        [&] {
                          GABLE_CU(cuMemcpyDtoDAsync, to, from, std::size_t{1} << 20, nullptr);
                          GABLE_CU(cuMemsetD8Async, to, 0, std::size_t{1} << 20, nullptr);
                          work.gpu.launch(spin, {1, 1}, work.out, work.out, 1ULL);
                        },
                        ranges);
  std::size_t unknown = 0;
  for (const auto& range : ranges) {
    for (const double value : range.values) unknown += std::isfinite(value) ? 0 : 1;
  }
  const auto ctas = profiler.values(ranges, kCtas);
  answer(done && ranges.size() == 1 && unknown == 0 && ctas[0] == 1,
         "a copy, a memset and a kernel of one thread give " + std::to_string(ranges.size()) +
             " automatic ranges with " + std::to_string(unknown) + " values that are no number",
         {{"window_done", done},
          {"ranges", ranges.size()},
          {"values_that_are_no_number", unknown},
          {"thread_blocks_of_last", ctas.empty() ? 0 : ctas.back()}});
}

// Two passes by kernel replay: how often are callbacks and ranges there for one launch?
void replayed() {
  const Work work;
  constexpr int kLaunches = 10;
  start_engine();
  follow_launches({});
  Profiler profiler(work.context());
  std::vector<Profiler::Range> ranges;
  const PassPlan& pass = two_passes();
  const bool done = profiler.enable() && window(
                                             profiler, pass, 64, [&] { work.fma(kLaunches); },
                                             ranges, CUPTI_KernelReplay);
  const std::size_t right = equal(profiler.values(ranges, kCtas), kGrid);
  answer(done && right == kLaunches && launches_followed() == kLaunches,
         std::to_string(kLaunches) +
             " launches replayed in two passes: " + std::to_string(launches_followed()) +
             " callbacks, " + std::to_string(right) + " ranges with the work of one run",
         {{"launches", kLaunches},
          {"callbacks", launches_followed()},
          {"ranges", ranges.size()},
          {"right", right},
          {"all_passes", profiler.all_passes()}});
}

// A million records of graphs' kernels.
void many_records() {
  const Work work;
  const CUstream stream = Work::stream();
  const int nodes = turns(1000, 50), launches = turns(1200, 4);
  const Graph graph = graph_of(work, stream, nodes);
  const std::size_t free_before = work.gpu.free_memory();
  activity_on();
  std::size_t records = 0, zero = 0;
  for (int i = 0; i < launches; ++i) {
    GABLE_CU(cuGraphLaunch, graph.exec, stream);
    GABLE_CU(cuStreamSynchronize, stream);
    if (i % 50 != 49) continue;
    const Records part = flushed_records();
    records += part.kernels;
    zero += part.zero_times;
  }
  const Records rest = flushed_records();
  records += rest.kernels;
  zero += rest.zero_times;
  const std::size_t free_after = work.gpu.free_memory();
  const auto expected = static_cast<std::size_t>(nodes) * static_cast<std::size_t>(launches);
  answer(records == expected && zero == 0,
         std::to_string(records) + " records of " + std::to_string(expected) +
             " kernels of graphs, " + std::to_string(zero) + " without times",
         {{"kernels", expected},
          {"records", records},
          {"zero_times", zero},
          {"gpu_memory_taken_bytes", free_before > free_after ? free_before - free_after : 0}});
}

}  // namespace

void add_graphs(std::vector<Experiment>& list) {
  list.insert(list.end(), {{"copies", copies},
                           {"graph_user", graph_user},
                           {"graph_auto", graph_auto},
                           {"graph_replay", graph_replay},
                           {"replayed", replayed},
                           {"many_records", many_records},
                           {"capture", capture}});
}

}  // namespace gable::probe

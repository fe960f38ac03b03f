// SPDX-License-Identifier: Apache-2.0
// Cost of one launch on the program's thread in a `time` window: 1,000 launch keys, 200 names, 5
// layers deep. Beside it an empty subscriber called in the same way.
#include <benchmark/benchmark.h>

#include <atomic>
#include <string>
#include <vector>

#include "tests/bench/bench_cupti.h"

namespace gable::bench {
namespace {

constexpr int kNames = 200, kDepth = 5, kKernelsPerLayer = 5, kBatch = 1000;
std::atomic<std::uint32_t> g_correlation{1};

const std::vector<std::string>& names() {
  static const auto all = [] {
    std::vector<std::string> out;
    out.reserve(kNames);
    for (int i = 0; i < kNames; ++i) out.push_back("layer4.block" + std::to_string(i) + ".conv");
    return out;
  }();
  return all;
}

void CUPTIAPI empty(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
  benchmark::ClobberMemory();
}

struct Launcher {
  cuLaunchKernel_params params{};
  CUpti_CallbackData data{};
  CUresult result = CUDA_SUCCESS;
  std::uint64_t between = 0;
  CUpti_CallbackFunc callback;
  void* user;

  Launcher(CUpti_CallbackFunc function, void* pointer) : callback(function), user(pointer) {
    params.blockDimX = 256;
    params.blockDimY = params.blockDimZ = params.gridDimY = params.gridDimZ = 1;
    data.functionParams = &params;
    data.functionReturnValue = &result;
    data.correlationData = &between;
    data.context = reinterpret_cast<CUcontext>(this);
  }
  void launch(int i, std::uint32_t correlation) {
    static const char* symbols[kKernelsPerLayer] = {"gemm_a", "gemm_b", "relu", "add", "norm"};
    params.gridDimX = static_cast<unsigned>(64 + i % 5);
    params.f = reinterpret_cast<CUfunction>(std::uintptr_t{0x1000} +
                                            static_cast<std::uintptr_t>(i % kKernelsPerLayer) * 64);
    data.symbolName = symbols[i % kKernelsPerLayer];
    data.correlationId = correlation;
    data.callbackSite = CUPTI_API_ENTER;
    callback(user, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
    data.callbackSite = CUPTI_API_EXIT;
    callback(user, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &data);
  }
};

// Every fifth launch opens another layer: a fifth of a push and pop is in the figure.
void launch(benchmark::State& state, bool ours) {
  start_collection();
  Launcher launcher(ours ? subscriber() : empty, subscriber_data());
  if (ours && state.thread_index() == 0) nvtx_push()("step");
  for (int d = 1; ours && d < kDepth - 1; ++d)
    nvtx_push()(names()[static_cast<std::size_t>(d)].c_str());
  std::size_t n = 0;
  while (state.KeepRunningBatch(kBatch)) {
    const auto first = g_correlation.fetch_add(kBatch, std::memory_order_relaxed);
    for (std::uint32_t i = 0; i < kBatch; i += kKernelsPerLayer) {
      if (ours) nvtx_push()(names()[n++ % kNames].c_str());
      for (int k = 0; k < kKernelsPerLayer; ++k)
        launcher.launch(k, first + i + static_cast<std::uint32_t>(k));
      if (ours) nvtx_pop()();
    }
    state.PauseTiming();  // the GPU's part
    if (ours) complete_records(first, first + kBatch);
    state.ResumeTiming();
  }
  for (int d = 1; ours && d < kDepth - 1; ++d) nvtx_pop()();
  if (ours && state.thread_index() == 0) nvtx_pop()();
}

// A call that only matters in a step that is recorded, outside of one.
void event_record(benchmark::State& state, bool ours) {
  start_collection();
  const cuEventRecord_params params{};
  CUresult result = CUDA_SUCCESS;
  CUpti_CallbackData data{};
  data.functionParams = &params;
  data.functionReturnValue = &result;
  data.correlationId = 1;
  const CUpti_CallbackFunc callback = ours ? subscriber() : empty;
  while (state.KeepRunning()) {
    for (const auto site : {CUPTI_API_ENTER, CUPTI_API_EXIT}) {
      data.callbackSite = site;
      callback(subscriber_data(), CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuEventRecord,
               &data);
    }
  }
}

void event_record_empty_subscriber(benchmark::State& state) { event_record(state, false); }
void event_record_gable(benchmark::State& state) { event_record(state, true); }
BENCHMARK(event_record_empty_subscriber);
BENCHMARK(event_record_gable);

void launch_empty_subscriber(benchmark::State& state) { launch(state, false); }
void launch_gable(benchmark::State& state) { launch(state, true); }
BENCHMARK(launch_empty_subscriber)->Threads(1)->Threads(16);
BENCHMARK(launch_gable)->Threads(1)->Threads(16);

}  // namespace
}  // namespace gable::bench

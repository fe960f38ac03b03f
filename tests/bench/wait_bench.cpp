// SPDX-License-Identifier: Apache-2.0
// Cost of one call that waits for the GPU, on the program's thread in a `time` window.
#include <benchmark/benchmark.h>

#include "tests/bench/bench_cupti.h"

namespace gable::bench {
namespace {

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
  benchmark::ClobberMemory();
}

void wait(benchmark::State& state, CUpti_CallbackFunc callback) {
  start_collection();
  cuStreamSynchronize_params params{};
  CUresult result = CUDA_SUCCESS;
  std::uint64_t between = 0;
  CUpti_CallbackData data{};
  data.functionParams = &params;
  data.functionReturnValue = &result;
  data.correlationData = &between;
  nvtx_push()("step");
  benchmark::DoNotOptimize(callback);  // so that the empty one is called, as CUPTI calls it
  while (state.KeepRunning()) {
    data.callbackSite = CUPTI_API_ENTER;
    callback(subscriber_data(), CUPTI_CB_DOMAIN_DRIVER_API,
             CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, &data);
    data.callbackSite = CUPTI_API_EXIT;
    callback(subscriber_data(), CUPTI_CB_DOMAIN_DRIVER_API,
             CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, &data);
  }
  nvtx_pop()();
}

void wait_empty_subscriber(benchmark::State& state) { wait(state, ignore); }
void wait_gable(benchmark::State& state) {
  start_collection();
  wait(state, subscriber());
}
BENCHMARK(wait_empty_subscriber);
BENCHMARK(wait_gable);

}  // namespace
}  // namespace gable::bench

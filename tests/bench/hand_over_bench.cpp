// SPDX-License-Identifier: Apache-2.0
// What it costs a launch that its range is pushed, or popped, on the helper's thread: the way there
// and back, without CUPTI's part. `between` is what the program does from one to the next.
#include <benchmark/benchmark.h>

#include <chrono>
#include <memory>

#include "collector/cupti/patient_calls.h"

namespace gable::bench {
namespace {

void hand_over(benchmark::State& state) {
  PatientCalls calls(std::make_shared<Patience>(), "gable-bench");
  PatientCalls::Job job;
  job.run = [](void*) { return CUPTI_SUCCESS; };
  const auto between = std::chrono::microseconds(state.range(0));
  while (state.KeepRunning()) {
    const auto began = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(calls.make(nullptr, job));
    const auto ended = std::chrono::steady_clock::now();
    state.SetIterationTime(std::chrono::duration<double>(ended - began).count());
    while (std::chrono::steady_clock::now() < ended + between) {
    }
  }
}
BENCHMARK(hand_over)->ArgName("between_us")->Arg(0)->Arg(5)->Arg(50)->UseManualTime();

}  // namespace
}  // namespace gable::bench

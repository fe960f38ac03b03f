// SPDX-License-Identifier: Apache-2.0
// Cost of one NVTX push and pop on the program's thread, as NVTX calls it through its table: in a
// `time` window, and after the queue. Beside it empty functions.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "collector/runtime/range_calls.h"
#include "tests/bench/bench_cupti.h"

namespace gable::bench {
namespace {

int empty_push(const char* message) {
  benchmark::DoNotOptimize(message);
  return 0;
}
int empty_pop() { return 0; }

void push_pop(benchmark::State& state, PushA push, Pop pop) {
  std::vector<std::string> names;
  names.reserve(200);
  for (int i = 0; i < 200; ++i) names.push_back("layer4.block" + std::to_string(i) + ".conv");
  for (int d = 0; d < 4; ++d) push(names[static_cast<std::size_t>(d)].c_str());
  std::size_t n = 0;
  for ([[maybe_unused]] auto _ : state) {
    push(names[n].c_str());
    pop();
    if (++n == names.size()) n = 0;
  }
  for (int d = 0; d < 4; ++d) pop();
}

void nvtx_empty(benchmark::State& state) { push_pop(state, empty_push, empty_pop); }

void nvtx_in_window(benchmark::State& state) {
  start_collection();
  if (state.thread_index() == 0) nvtx_push()("step");
  push_pop(state, nvtx_push(), nvtx_pop());
  if (state.thread_index() == 0) nvtx_pop()();
}

void nvtx_after_queue(benchmark::State& state) {
  start_collection();
  set_ranges_active(false);
  push_pop(state, nvtx_push(), nvtx_pop());
  if (state.thread_index() == 0) set_ranges_active(true);
}

BENCHMARK(nvtx_empty)->Threads(1)->Threads(16);
BENCHMARK(nvtx_in_window)->Threads(1)->Threads(16);
BENCHMARK(nvtx_after_queue)->Threads(1);

}  // namespace
}  // namespace gable::bench

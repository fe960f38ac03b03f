// SPDX-License-Identifier: Apache-2.0
// What a launch costs more where no step is known: its place in the sequence whose period is looked
// for. A period of 1,000 launch keys; of several threads one is followed.
#include <benchmark/benchmark.h>

#include <vector>

#include "collector/layers/launch_hash.h"
#include "collector/queue/launch_sequence.h"

namespace gable::bench {
namespace {

constexpr std::uint32_t kLaunches = 1000;

void launch_period(benchmark::State& state) {
  static LaunchSequence sequence;
  std::vector<LaunchKey> keys(kLaunches);
  for (std::uint32_t i = 0; i < kLaunches; ++i) {
    keys[i].layer = i / 5;
    keys[i].function = i % 5;
    keys[i].grid = {64 + i, 1, 1};
  }
  while (state.KeepRunningBatch(kLaunches)) {
    for (const auto& key : keys) {
      auto mark = sequence.add(&state, hash_key(key));
      benchmark::DoNotOptimize(mark);
    }
  }
}
BENCHMARK(launch_period)->Threads(1)->Threads(16);

}  // namespace
}  // namespace gable::bench

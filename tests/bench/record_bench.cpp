// SPDX-License-Identifier: Apache-2.0
// Taking in activity records on one core: 10,000 launch keys in random order, each record matched
// to its launch, its time added to its key and to the unions of its layers. A window's worth
// (100,000 launches) is announced outside the timing.
#include <benchmark/benchmark.h>

#include <random>
#include <string>
#include <vector>

#include "analysis/profile/profile.h"

namespace gable::bench {
namespace {

constexpr std::uint32_t kKeys = 10000, kWindow = 100000;

void records(benchmark::State& state) {
  LayerTree layers;
  FunctionTable functions;
  Profile profile(layers, functions);
  std::vector<LaunchKey> keys(kKeys);
  std::vector<LayerId> leaves;
  for (int i = 0; i < 200; ++i) {
    LayerId layer = 0;
    for (int d = 0; d < 4; ++d)
      layer = layers.child(layer,
                           "level" + std::to_string(d) + "." + std::to_string(i % (1 << (2 * d))));
    leaves.push_back(layers.child(layer, "leaf" + std::to_string(i)));
  }
  for (std::uint32_t i = 0; i < kKeys; ++i) {
    keys[i].layer = leaves[i % leaves.size()];
    keys[i].function = functions.intern("kernel" + std::to_string(i % 500));
    keys[i].grid.x = 1 + i;
  }
  std::mt19937 random(7);
  std::uint32_t correlation = 1;
  std::uint64_t now = 1000;
  WindowId window = 0;
  while (state.KeepRunningBatch(kWindow)) {
    state.PauseTiming();
    ++window;
    profile.begin_window(window, {PhaseKind::time, 0});
    const auto first = correlation;
    for (std::uint32_t i = 0; i < kWindow; ++i) {
      LaunchEvent launch;
      launch.key = keys[random() % kKeys];
      launch.window = window;
      launch.correlation = correlation++;
      profile.add(launch);
    }
    state.ResumeTiming();
    for (std::uint32_t i = 0; i < kWindow; ++i, now += 1000) {
      KernelRecord record;
      record.start_ns = now;
      record.end_ns = now + 900;
      record.correlation = first + i;
      profile.add(record);
    }
    WindowEnd end;
    end.window = window;
    end.phase = {PhaseKind::time, 0};
    end.launches = kWindow;
    profile.end_window(end);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(records);

}  // namespace
}  // namespace gable::bench

// SPDX-License-Identifier: Apache-2.0
// A long-running program for the profile: 10,000 keys in random order, some launches with a key
// never seen again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/profile/profile.h"

namespace gable::tests {

class StreamProgram {
 public:
  static constexpr std::uint32_t kKeys = 10000;

  StreamProgram(LayerTree& layers, FunctionTable& functions)
      : layers_(layers), functions_(functions) {
    std::vector<LayerId> leaves;
    for (int i = 0; i < 200; ++i) {  // 200 layers, five deep
      LayerId id = layers.child(0, "model");
      for (const int part : {i / 100, i / 20, i / 5, i})
        id = layers.child(id, "layer" + std::to_string(part));
      leaves.push_back(id);
    }
    std::vector<FunctionId> kernels;
    kernels.reserve(100);
    for (int i = 0; i < 100; ++i)
      kernels.push_back(functions.intern("kernel_" + std::to_string(i)));
    for (std::uint32_t i = 0; i < kKeys; ++i) {
      LaunchKey key;
      key.layer = leaves[i % leaves.size()];
      key.function = kernels[(i / 7) % kernels.size()];
      key.grid = {1 + i, 1, 1};
      key.block = {256, 1, 1};
      keys_.push_back(key);
    }
  }

  // The key of launch number `ordinal`.
  const LaunchKey& usual(std::uint64_t ordinal) const { return keys_[mix(ordinal) % kKeys]; }

  // A key that no other launch has: by turns another grid, another kernel, another layer.
  LaunchKey fresh(std::uint64_t ordinal) {
    LaunchKey key = keys_[0];
    key.grid.y = static_cast<std::uint32_t>(ordinal % 1000000007u) + 2;
    if (ordinal % 3 == 1)
      key.function = functions_.intern("generated_kernel_" + std::to_string(ordinal));
    if (ordinal % 3 == 2)
      key.layer = layers_.child(key.layer, "request " + std::to_string(ordinal));
    return key;
  }

  // Durations between 1 and 9 us, a function of the ordinal.
  static std::uint64_t duration_ns(std::uint64_t ordinal) {
    return 1000 + mix(ordinal ^ 0x5555) % 8000;
  }

  static std::uint64_t mix(std::uint64_t z) {  // splitmix64
    z += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

 private:
  LayerTree& layers_;
  FunctionTable& functions_;
  std::vector<LaunchKey> keys_;
};

}  // namespace gable::tests

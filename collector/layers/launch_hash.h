// SPDX-License-Identifier: Apache-2.0
// A launch as one number, used to class steps and find periods.
#pragma once

#include <cstdint>

#include "analysis/events/events.h"
#include "collector/process/hash.h"

namespace gable {

inline std::uint64_t hash_key(const LaunchKey& key) {
  const std::uint64_t words[] = {
      (std::uint64_t{key.layer} << 32) | key.function,
      (std::uint64_t{key.grid.x} << 32) | key.grid.y,
      (std::uint64_t{key.grid.z} << 32) | key.block.x,
      (std::uint64_t{key.block.y} << 32) | key.block.z,
      (std::uint64_t{key.dynamic_shared} << 32) | static_cast<std::uint32_t>(key.device),
  };
  return hash_bytes(reinterpret_cast<const char*>(words), sizeof words, key.cluster.x);
}

}  // namespace gable

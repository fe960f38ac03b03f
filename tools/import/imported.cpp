// SPDX-License-Identifier: Apache-2.0
#include "tools/import/imported.h"

namespace gable {
namespace {

std::uint64_t hash_of(const LaunchShape& shape) {
  std::uint64_t hash = shape.dynamic_shared;
  for (const Dim3* size : {&shape.grid, &shape.block, &shape.cluster}) {
    for (const std::uint32_t part : {size->x, size->y, size->z})
      hash = (hash ^ part) * 0x9E3779B97F4A7C15ull;
  }
  return hash;
}

}  // namespace

std::uint32_t ShapeTable::intern(const LaunchShape& shape) {
  const std::uint64_t hash = hash_of(shape);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto found = first; found != last; ++found) {
    if (shapes_[found->second] == shape) return found->second;
  }
  const auto index = static_cast<std::uint32_t>(shapes_.size());
  shapes_.push_back(shape);
  by_hash_.emplace(hash, index);
  return index;
}

}  // namespace gable

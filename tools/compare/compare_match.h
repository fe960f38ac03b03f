// SPDX-License-Identifier: Apache-2.0
// Which layers and kernels of two reports belong together. Internal to this folder.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/compare/compare.h"

namespace gable {

struct LayerMatches {
  // B's layers in B's order, then those of A that are gone; null: the report has no such layer.
  std::vector<std::pair<const LayerRow*, const LayerRow*>> pairs;
  std::map<const LayerRow*, std::size_t> place_a, place_b;  // in `pairs`
  std::map<std::int64_t, const LayerRow*> ids_a, ids_b;
  [[nodiscard]] const LayerRow* layer(std::int64_t id, bool of_b) const;
};

// Matches by path, direction and device. Remaining layers with equal own kernels (names, grids,
// blocks and launches) count as renamed, in order, if both reports have equally many.
[[nodiscard]] LayerMatches match_layers(const Report& a, const Report& b);

struct KernelMatch {
  const KernelRow* a = nullptr;
  const KernelRow* b = nullptr;
  Match match = Match::same;
};
[[nodiscard]] std::vector<KernelMatch> match_kernels(const Report& a, const Report& b,
                                                     const LayerMatches& layers);

// The launch shape: "grid 4x1x1, block 128x1x1", with cluster and dynamic shared memory if any.
[[nodiscard]] std::string shape_of(const KernelRow& kernel);

}  // namespace gable

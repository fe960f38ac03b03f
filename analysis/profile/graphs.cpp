// SPDX-License-Identifier: Apache-2.0
#include "analysis/profile/graphs.h"

namespace gable {
namespace {

std::uint64_t hash_of(const GraphShape& shape) {
  std::uint64_t hash = 1469598103934665603ull;
  const auto mix = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 1099511628211ull;
    hash ^= hash >> 29;
  };
  mix(shape.layer);
  mix(shape.kernels);
  mix(shape.blocks);
  mix(shape.threads);
  for (const auto& [key, count] : shape.known) {
    mix((std::uint64_t{key.layer} << 32) | key.function);
    mix((std::uint64_t{key.grid.x} << 32) | count);
  }
  return hash;
}

}  // namespace

GraphId Graphs::add(const GraphShape& shape, std::size_t max_graphs, std::size_t max_keys) {
  const std::uint64_t hash = hash_of(shape);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (graphs_[it->second - 1].shape == shape) return it->second;
  }
  if (graphs_.size() >= max_graphs || keys_ + shape.known.size() > max_keys) return 0;
  keys_ += shape.known.size();
  graphs_.push_back({shape, std::vector<KeyIndex>(shape.known.size(), kOtherKey)});
  const auto id = static_cast<GraphId>(graphs_.size());
  by_hash_.emplace(hash, id);
  return id;
}

Graphs::Known* Graphs::find(GraphId id) {
  return id == 0 || id > graphs_.size() ? nullptr : &graphs_[id - 1];
}

const Graphs::Known* Graphs::find(GraphId id) const {
  return id == 0 || id > graphs_.size() ? nullptr : &graphs_[id - 1];
}

GraphId Graphs::of_function(FunctionId function) const {
  const auto found = by_function_.find(function);
  return found == by_function_.end() ? 0 : found->second;
}

std::string graph_symbol(GraphId id) { return "(graph " + std::to_string(id) + ")"; }

std::string graph_name(const GraphShape& shape) {
  return "(graph of " + std::to_string(shape.kernels) +
         (shape.kernels == 1 ? " kernel" : " kernels") + (shape.more ? " or more)" : ")");
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The CUDA graphs of a run, by shape: a program that captures the same graph again and again has
// one. Bounded.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/events/events.h"
#include "analysis/profile/key_table.h"

namespace gable {

class Graphs {
 public:
  struct Known {
    GraphShape shape;
    std::vector<KeyIndex> rows;  // rows of shape.known, as last found
  };

  // Returns 0 if there is no room.
  GraphId add(const GraphShape& shape, std::size_t max_graphs, std::size_t max_keys);
  [[nodiscard]] Known* find(GraphId id);
  [[nodiscard]] const Known* find(GraphId id) const;
  // Sets the function that represents the graph in launch keys.
  void name(GraphId id, FunctionId function) { by_function_[function] = id; }
  [[nodiscard]] GraphId of_function(FunctionId function) const;

 private:
  std::vector<Known> graphs_;
  std::unordered_multimap<std::uint64_t, GraphId> by_hash_;
  std::unordered_map<FunctionId, GraphId> by_function_;
  std::size_t keys_ = 0;
};

// A graph launch waiting for the records of its kernels.
struct PendingGraph {
  KeyIndex key = kOtherKey;  // key of the graph
  GraphId graph = 0;
  WindowId window = kNoWindow;
  std::uint32_t left = 0;
  std::uint64_t sum_ns = 0;
  bool broken = false;  // a kernel's time is unknown
};

// The symbol that represents a graph among the functions.
[[nodiscard]] std::string graph_symbol(GraphId id);
// "(graph of 12 kernels)"
[[nodiscard]] std::string graph_name(const GraphShape& shape);

}  // namespace gable

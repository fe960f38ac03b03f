// SPDX-License-Identifier: Apache-2.0
// Which layer each node of each CUDA graph was captured in. Follows CUPTI's callbacks about graphs
// from the start of the process: graphs are captured long before any window, and their kernels'
// records name the nodes. What is known of a graph is dropped when it is destroyed, a while later:
// records of its last launches are still to come.
//
// Threads: any. The mutex inside is held for a few instructions per node, never during a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/events/events.h"
#include "analysis/events/layer_tree.h"

namespace gable {

class GraphNodes {
 public:
  // Nodes of existing graphs; graphs with nodes beyond that are unknown.
  static constexpr std::size_t kMaxNodes = std::size_t{1} << 18;
  static constexpr std::size_t kMaxGone = std::size_t{1} << 16;  // nodes of destroyed graphs

  enum class Kind : std::uint8_t { kernel, copy, conditional, other };
  struct Node {
    LaunchKey key;  // only its layer is valid unless `complete`
    Kind kind = Kind::other;
    bool complete = false;  // the launch that made the node was seen
    bool changed = false;   // an executable graph may run something else in its place
  };

  GraphNodes(const LayerTree& layers, std::size_t max_nodes = kMaxNodes,
             std::size_t max_gone = kMaxGone)
      : layers_(layers), max_nodes_(max_nodes), max_gone_(max_gone) {}

  // --- called as CUPTI reports; ids are CUPTI's
  void created(std::uint32_t graph, std::uint64_t node, const Node& what);
  // Says that the node is a copy of `original`, whatever created() said before.
  void cloned(std::uint32_t graph, std::uint64_t node, Kind kind, std::uint64_t original);
  void graph_destroyed(std::uint32_t graph);
  // `clones`: graphs whose nodes were cloned for it, its own first.
  void exec_created(const void* exec, std::uint32_t id, std::uint32_t original,
                    std::vector<std::uint32_t> clones);
  // Says that its nodes got other parameters; `part`: nodes were also enabled or disabled.
  void exec_changed(const void* exec, bool part);
  void exec_destroyed(const void* exec);

  // --- at a launch
  struct Launched {
    bool named = false;  // name() was called since its last change
    GraphId graph = 0;
    LaunchKey key;
    std::uint32_t kernels = 0;  // kernels per launch; 0: unknown
  };
  [[nodiscard]] Launched launched(const void* exec) const;
  // What one launch runs; an empty shape if a node was not seen.
  [[nodiscard]] GraphShape shape(const void* exec) const;
  void name(const void* exec, const Launched& launched);

  // --- records
  void place(std::vector<GraphKernelRecord>& kernels, std::vector<CopyRecord>& copies) const;

  // The function that a node was made with, if certain.
  [[nodiscard]] std::optional<FunctionId> function_of(std::uint64_t node) const;

  [[nodiscard]] std::size_t nodes() const;

 private:
  struct Graph {
    std::vector<std::uint64_t> nodes;
    std::uint32_t users = 0;              // executable graphs made from it
    bool destroyed = false, cut = false;  // cut: not all its nodes are here
  };
  struct Exec {
    std::uint32_t id = 0, original = 0;
    std::vector<std::uint32_t> clones;
    bool changed = false, part = false;
    Launched launched;
  };
  Graph& add(std::uint32_t graph, std::uint64_t node, const Node& what) GABLE_REQUIRES(mutex_);
  void bury(std::uint32_t graph) GABLE_REQUIRES(mutex_);
  void release(Exec& exec) GABLE_REQUIRES(mutex_);
  void doubt(std::uint32_t graph) GABLE_REQUIRES(mutex_);
  [[nodiscard]] const Node* find(std::uint64_t node) const GABLE_REQUIRES(mutex_);
  [[nodiscard]] LayerId common_layer(const std::vector<LayerId>& layers) const;

  const LayerTree& layers_;
  const std::size_t max_nodes_, max_gone_;
  mutable Mutex mutex_;  // guards what follows
  std::unordered_map<std::uint64_t, Node> nodes_ GABLE_GUARDED_BY(mutex_);
  std::unordered_map<std::uint32_t, Graph> graphs_ GABLE_GUARDED_BY(mutex_);
  std::unordered_map<const void*, Exec> execs_ GABLE_GUARDED_BY(mutex_);
  // Executable graphs whose clones CUPTI did not report, by id: their nodes count as the
  // original's.
  std::unordered_map<std::uint32_t, std::uint32_t> originals_ GABLE_GUARDED_BY(mutex_);
  std::deque<std::uint32_t> gone_ GABLE_GUARDED_BY(mutex_);  // graphs, the longest gone first
  std::size_t gone_nodes_ GABLE_GUARDED_BY(mutex_) = 0;
};

// The launch key of a graph. Its blocks are the sum of its kernels', to check counters against; 0
// if unknown. Its blocks have no threads, unlike any kernel's.
[[nodiscard]] LaunchKey graph_key(const GraphShape& shape, FunctionId function,
                                  std::int32_t device);
[[nodiscard]] inline bool is_graph(const LaunchKey& key) { return key.block.x == 0; }

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/graph_nodes.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace gable {
namespace {

constexpr std::uint64_t kLocal = 0xffffffffu;  // a node's number within its graph

bool before(const LaunchKey& a, const LaunchKey& b) { return std::memcmp(&a, &b, sizeof a) < 0; }

bool same_launch(const LaunchKey& a, const LaunchKey& b) {
  return a.function == b.function && a.device == b.device && a.grid == b.grid && a.block == b.block;
}

}  // namespace

GraphNodes::Graph& GraphNodes::add(std::uint32_t graph, std::uint64_t node, const Node& what) {
  Graph& in = graphs_[graph];
  if (const auto known = nodes_.find(node); known != nodes_.end()) {
    known->second = what;
  } else if (nodes_.size() >= max_nodes_ + gone_nodes_) {
    in.cut = true;
  } else {
    nodes_.emplace(node, what);
    in.nodes.push_back(node);
  }
  return in;
}

void GraphNodes::created(std::uint32_t graph, std::uint64_t node, const Node& what) {
  const MutexLock hold(mutex_);
  add(graph, node, what);
}

void GraphNodes::cloned(std::uint32_t graph, std::uint64_t node, Kind kind,
                        std::uint64_t original) {
  const MutexLock hold(mutex_);
  const Node* source = find(original);
  if (source != nullptr) {
    add(graph, node, Node(*source));
  } else if (kind == Kind::kernel) {
    graphs_[graph].cut = true;
  }
}

// Kept for records that are still to come, until newer ones need the room.
void GraphNodes::bury(std::uint32_t graph) {
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return;
  gone_.push_back(graph);
  gone_nodes_ += found->second.nodes.size();
  while (!gone_.empty() && (gone_nodes_ > max_gone_ || gone_.size() > max_gone_)) {
    const auto oldest = graphs_.find(gone_.front());
    gone_.pop_front();
    if (oldest == graphs_.end()) continue;
    gone_nodes_ -= oldest->second.nodes.size();
    for (const std::uint64_t node : oldest->second.nodes) nodes_.erase(node);
    originals_.erase(oldest->first);
    graphs_.erase(oldest);
  }
}

void GraphNodes::graph_destroyed(std::uint32_t graph) {
  const MutexLock hold(mutex_);
  const auto found = graphs_.find(graph);
  if (found == graphs_.end() || std::exchange(found->second.destroyed, true)) return;
  if (found->second.users == 0) bury(graph);
}

void GraphNodes::exec_created(const void* exec, std::uint32_t id, std::uint32_t original,
                              std::vector<std::uint32_t> clones) {
  const MutexLock hold(mutex_);
  if (const auto old = execs_.find(exec); old != execs_.end()) release(old->second);
  ++graphs_[original].users;
  if (clones.empty()) originals_[id] = original;
  execs_[exec] = Exec{id, original, std::move(clones), false, false, {}};
}

void GraphNodes::release(Exec& exec) {
  for (const std::uint32_t clone : exec.clones) {
    const auto found = graphs_.find(clone);
    if (found == graphs_.end() || std::exchange(found->second.destroyed, true)) continue;
    bury(clone);
  }
  if (exec.clones.empty()) {
    graphs_[exec.id];  // so that the id is forgotten in its turn
    bury(exec.id);
  }
  const auto original = graphs_.find(exec.original);
  if (original == graphs_.end() || original->second.users == 0) return;
  if (--original->second.users == 0 && original->second.destroyed) bury(exec.original);
}

void GraphNodes::exec_destroyed(const void* exec) {
  const MutexLock hold(mutex_);
  const auto found = execs_.find(exec);
  if (found == execs_.end()) return;
  release(found->second);
  execs_.erase(found);
}

void GraphNodes::exec_changed(const void* exec, bool part) {
  const MutexLock hold(mutex_);
  const auto found = execs_.find(exec);
  if (found == execs_.end()) return;
  Exec& changed = found->second;
  if (changed.changed && (changed.part || !part)) return;
  changed.changed = true;
  changed.part = changed.part || part;
  changed.launched = {};
  doubt(changed.original);  // records may name its nodes instead of the clones'
  for (const std::uint32_t clone : changed.clones) doubt(clone);
}

void GraphNodes::doubt(std::uint32_t graph) {
  const auto found = graphs_.find(graph);
  if (found == graphs_.end()) return;
  for (const std::uint64_t node : found->second.nodes)
    if (const auto known = nodes_.find(node); known != nodes_.end()) known->second.changed = true;
}

std::optional<FunctionId> GraphNodes::function_of(std::uint64_t node) const {
  const MutexLock hold(mutex_);
  const Node* known = find(node);
  if (known == nullptr || !known->complete || known->changed) return std::nullopt;
  return known->key.function;
}

GraphNodes::Launched GraphNodes::launched(const void* exec) const {
  const MutexLock hold(mutex_);
  const auto found = execs_.find(exec);
  return found == execs_.end() ? Launched{} : found->second.launched;
}

void GraphNodes::name(const void* exec, const Launched& launched) {
  const MutexLock hold(mutex_);
  const auto found = execs_.find(exec);
  if (found != execs_.end()) found->second.launched = launched;
}

GraphShape GraphNodes::shape(const void* exec) const {
  std::vector<LaunchKey> kernels;
  GraphShape shape;
  bool complete = true;
  {
    const MutexLock hold(mutex_);
    const auto found = execs_.find(exec);
    if (found == execs_.end() || found->second.part) return {};
    complete = !found->second.changed;
    auto parts = found->second.clones;
    if (parts.empty()) parts.push_back(found->second.original);
    for (const std::uint32_t part : parts) {
      const auto graph = graphs_.find(part);
      if (graph == graphs_.end()) continue;
      if (graph->second.cut) return {};
      for (const std::uint64_t id : graph->second.nodes) {
        const auto node = nodes_.find(id);
        if (node == nodes_.end()) return {};
        shape.more = shape.more || node->second.kind == Kind::conditional;
        // What is within a conditional node is a graph of its own: it runs, or not.
        if (node->second.kind != Kind::kernel || (shape.more && part != parts.front())) continue;
        kernels.push_back(node->second.key);
        complete = complete && node->second.complete;
      }
    }
  }
  shape.kernels = static_cast<std::uint32_t>(kernels.size());
  std::vector<LayerId> layers;
  layers.reserve(kernels.size());
  for (const LaunchKey& key : kernels) layers.push_back(key.layer);
  std::sort(layers.begin(), layers.end());
  layers.erase(std::unique(layers.begin(), layers.end()), layers.end());
  shape.layer = common_layer(layers);
  if (!complete) return shape;
  std::sort(kernels.begin(), kernels.end(), before);
  for (const LaunchKey& key : kernels) {
    if (shape.known.empty() || !(shape.known.back().key == key)) shape.known.push_back({key, 0});
    ++shape.known.back().count;
    shape.blocks += key.grid.count();
    shape.threads += key.grid.count() * key.block.count();
  }
  if (shape.more) shape.blocks = shape.threads = 0;
  return shape;
}

LayerId GraphNodes::common_layer(const std::vector<LayerId>& layers) const {
  if (layers.empty()) return 0;
  LayerId common = layers.front();
  LayerTree::Node node = layers_.node(common);
  for (LayerId other : layers) {
    LayerTree::Node another = layers_.node(other);
    while (other != common) {  // the deeper one goes up: at the latest they meet in the root
      const bool up = node.depth >= another.depth;
      (up ? common : other) = up ? node.parent : another.parent;
      (up ? node : another) = layers_.node(up ? common : other);
    }
  }
  return common;
}

const GraphNodes::Node* GraphNodes::find(std::uint64_t node) const {
  if (const auto found = nodes_.find(node); found != nodes_.end()) return &found->second;
  const auto original = originals_.find(static_cast<std::uint32_t>(node >> 32));
  if (original == originals_.end()) return nullptr;
  const auto found = nodes_.find((std::uint64_t{original->second} << 32) | (node & kLocal));
  return found == nodes_.end() ? nullptr : &found->second;
}

void GraphNodes::place(std::vector<GraphKernelRecord>& kernels,
                       std::vector<CopyRecord>& copies) const {
  const MutexLock hold(mutex_);
  for (GraphKernelRecord& kernel : kernels) {
    const Node* node = find(kernel.node);
    kernel.placed = node != nullptr;
    if (node == nullptr) continue;
    // A record may say more of clusters and shared memory than the call did.
    if (node->complete && same_launch(node->key, kernel.key)) kernel.key = node->key;
    kernel.key.layer = node->key.layer;
  }
  for (CopyRecord& copy : copies) {
    if (copy.node == 0) continue;
    const Node* node = find(copy.node);
    copy.placed = node != nullptr;
    if (node != nullptr) copy.layer = node->key.layer;
  }
}

std::size_t GraphNodes::nodes() const {
  const MutexLock hold(mutex_);
  return nodes_.size();
}

LaunchKey graph_key(const GraphShape& shape, FunctionId function, std::int32_t device) {
  LaunchKey key;
  key.layer = shape.layer;
  key.function = function;
  key.device = device;
  key.block = {0, 0, 0};
  key.grid = {0, 0, 0};
  if (shape.blocks > 0 && shape.blocks <= 0xffffffffu)
    key.grid = {static_cast<std::uint32_t>(shape.blocks), 1, 1};
  return key;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/layers/autograd.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

#include "collector/layers/thread_state.h"

namespace gable {
namespace {

// Nodes that have no number of their own (they add up gradients) run right after the node whose
// result they take.
constexpr std::uint64_t kUnnumbered = std::numeric_limits<std::uint64_t>::max();

std::uint64_t read_word(const void* node, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, static_cast<const char*>(node) + offset, sizeof word);
  return word;
}

// Behind the address of its virtual functions, a std::shared_ptr's block has the count of owners.
constexpr std::size_t kOwners = sizeof(void*);

template <typename Count>
void give_back(void* counted, std::size_t offset) {
  __atomic_fetch_sub(reinterpret_cast<Count*>(static_cast<char*>(counted) + offset), Count{1},
                     __ATOMIC_ACQ_REL);
}

}  // namespace

void call_current_node(CurrentNode function, void* out) { ::new (out) ReturnedNode(function()); }

void NodeLayers::add(const Change& change) {
  if (!changes_.empty()) {
    auto& newest = changes_[(first_ + changes_.size() - 1) % changes_.size()];
    if (newest.layer == change.layer) return;
    if (newest.number >= change.number) {  // no node was made meanwhile
      newest.layer = change.layer;
      return;
    }
  }
  if (changes_.size() < kMost) {
    changes_.push_back(change);
  } else {
    changes_[first_] = change;
    first_ = (first_ + 1) % kMost;
  }
}

void NodeLayers::open(std::uint64_t number, LayerId layer) {
  const MutexLock hold(mutex_);
  add({number, layer});
}

void NodeLayers::made(std::uint64_t next, LayerId layer) {
  const auto seen = seen_.load(std::memory_order_relaxed);
  if (next == seen) return;
  seen_.store(next, std::memory_order_relaxed);
  const MutexLock hold(mutex_);
  const auto newest = changes_.empty() ? 0 : at(changes_.size() - 1).number;
  const auto from = std::max(seen, newest);
  if (from < next) add({from, layer});
}

void NodeLayers::start_anew() {
  const MutexLock hold(mutex_);
  set_thread_id(0);
  seen_.store(0, std::memory_order_relaxed);
  changes_ = {};
  first_ = 0;
}

LayerId NodeLayers::layer_of(std::uint64_t number) const {
  const MutexLock hold(mutex_);
  std::size_t low = 0, high = changes_.size();  // the last change at or before `number`
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (at(middle).number <= number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : at(low - 1).layer;
}

void Autograd::number_nodes(const Numbers& numbers) {
  const MutexLock hold(mutex_);
  if (numbered()) return;
  numbers_ = numbers;
  numbered_.store(true, std::memory_order_release);
}

void Autograd::attach(const Nodes& nodes) {
  const MutexLock hold(mutex_);
  if (attached()) return;
  nodes_ = nodes;
  attached_.store(true, std::memory_order_release);
}

void Autograd::opened(NodeLayers& thread, LayerId layer) {
  if (!numbered()) return;
  if (thread.thread_id() == 0) thread.set_thread_id(numbers_.thread_id());
  thread.open(numbers_.next_number(), layer);
}

void Autograd::backward_begins(NodeLayers& thread) {
  if (numbered()) thread.backward_begins(numbers_.next_number());
}

// The engine holds references of its own to the node while it runs: giving ours back never ends it.
Autograd::Running Autograd::running() const {
  if (!attached()) return {};
  void* out[2] = {nullptr, nullptr};
  call_current_node(nodes_.current_node, out);
  if (out[0] == nullptr) return {};
  const Running node{reinterpret_cast<std::uintptr_t>(out[0]), read_word(out[0], nodes_.number),
                     nodes_.maker == 0 ? 0 : read_word(out[0], nodes_.maker)};
  if (nodes_.references != 0)
    give_back<std::uint64_t>(out[0], nodes_.references);
  else if (out[1] != nullptr)
    give_back<std::int32_t>(out[1], kOwners);
  return node;
}

LayerId Autograd::backward_layer(ThreadState& thread) {
  const auto node = running();
  if (node.address == kNoNode) return 0;
  const LayerId layer = layer_of_node(thread, node);
  if (layer != 0 && numbered()) {
    if (thread.nodes.thread_id() == 0) thread.nodes.set_thread_id(numbers_.thread_id());
    thread.nodes.made(numbers_.next_number(), layer);
  }
  return layer;
}

LayerId Autograd::layer_of_node(ThreadState& thread, const Running& node) {
  auto& last = thread.backward;
  if (node.number == kUnnumbered) return last.layer;
  if (last.layer != 0 && last.number == node.number && last.maker == node.maker) return last.layer;
  LayerId forward = 0;
  ThreadRegistry::instance().each([&](const ThreadState& state) {
    if (forward == 0 && (node.maker == 0 || state.nodes.thread_id() == node.maker))
      forward = state.nodes.layer_of(node.number);
  });
  last = {node.number, node.maker, forward == 0 ? 0 : turned(forward, Direction::backward)};
  return last.layer;
}

LayerId Autograd::turned(LayerId layer, Direction direction) {
  const std::uint64_t key = (std::uint64_t{layer} << 2) | static_cast<std::uint64_t>(direction);
  {
    const MutexLock hold(mutex_);
    const auto known = turned_.find(key);
    if (known != turned_.end()) return known->second;
  }
  std::vector<LayerTree::Node> line;  // innermost first
  std::vector<LayerId> ids;
  for (LayerId id = layer; id != 0; id = line.back().parent) {
    ids.push_back(id);
    line.push_back(layers_.node(id));
  }
  LayerId other = 0;
  for (std::size_t i = line.size(); i-- > 0;) {
    const bool keeps = line[i].direction == Direction::none;
    other = layers_.child(other, line[i].name, keeps ? Direction::none : direction);
    layers_.set_dotted(other, layers_.dotted(ids[i]));
    if (auto region = layers_.compiled(ids[i])) layers_.set_compiled(other, std::move(*region));
  }
  const MutexLock hold(mutex_);
  return turned_[key] = other;
}

}  // namespace gable

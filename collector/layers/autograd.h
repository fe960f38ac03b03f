// SPDX-License-Identifier: Apache-2.0
// From a kernel that PyTorch's autograd launches to the layer whose forward made its node.
//
// PyTorch numbers the nodes of a thread's graph in the order in which they are made. While modules
// run, each thread writes down from which number on which layer was open; when a kernel is launched
// in backward, on whatever thread, the number of the node that runs finds its layer. Nothing is
// added to the graph, no hook runs, and outside modules it costs nothing.
//
// The addresses of three functions of libtorch and the places of numbers within a node come from
// the Python side, which has compared them with what Python says of the same nodes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/events/events.h"
#include "analysis/events/layer_tree.h"

namespace gable {

struct ThreadState;

// Which layer was open from which node number on, on one thread. Written by that thread, read by
// any. Keeps the newest kMost changes.
class NodeLayers {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 17;

  // `number`: that of the next node to be made.
  void open(std::uint64_t number, LayerId layer);
  // On the thread that runs backward: the nodes below `next` that were made since the last call,
  // and since another layer was opened, are of `layer`.
  void made(std::uint64_t next, LayerId layer);
  // Backward begins: what was made below `next` is no node of its.
  void backward_begins(std::uint64_t next) { seen_.store(next, std::memory_order_relaxed); }
  // The layer in which node `number` was made; 0 when none was open or it is not known any more.
  [[nodiscard]] LayerId layer_of(std::uint64_t number) const;
  [[nodiscard]] std::uint64_t thread_id() const {
    return thread_id_.load(std::memory_order_relaxed);
  }
  void start_anew();  // resets it for another thread
  void set_thread_id(std::uint64_t id) { thread_id_.store(id, std::memory_order_relaxed); }

 private:
  struct Change {
    std::uint64_t number;
    LayerId layer;
  };
  [[nodiscard]] const Change& at(std::size_t i) const GABLE_REQUIRES(mutex_) {
    return changes_[(first_ + i) % changes_.size()];
  }
  void add(const Change& change) GABLE_REQUIRES(mutex_);

  std::atomic<std::uint64_t> thread_id_{0};  // PyTorch's id of the thread; 0: none yet
  std::atomic<std::uint64_t> seen_{0};       // nodes below it have their layer
  mutable Mutex mutex_;
  std::vector<Change> changes_ GABLE_GUARDED_BY(mutex_);  // a ring once it is full
  std::size_t first_ GABLE_GUARDED_BY(mutex_) = 0;
};

// The smart pointer that torch::autograd::get_current_node returns: one word or two. Its destructor
// lets it be returned as PyTorch's is, in memory of the caller's, which every calling convention
// names in a way of its own.
struct ReturnedNode {
  ~ReturnedNode() {}  // NOLINT(modernize-use-equals-default): that would be another convention
  void* words[2];
};
using CurrentNode = ReturnedNode (*)();
// Writes to `out`, two words, what the function returns; a word that it does not write stays.
void call_current_node(CurrentNode function, void* out);

class Autograd {
 public:
  struct Numbers {
    std::uint64_t (*next_number)() = nullptr;  // at::sequence_number::peek
    std::uint64_t (*thread_id)() = nullptr;    // at::RecordFunction::currentThreadId
  };
  struct Nodes {
    CurrentNode current_node = nullptr;
    // Bytes from a node's begin to:
    std::size_t number = 0;  // its number
    std::size_t maker = 0;   // the id of the thread that made it; 0: not known
    // its count of references, where the smart pointer is an intrusive one; 0: a std::shared_ptr of
    // libstdc++'s, whatever the C++ library of ours is
    std::size_t references = 0;
  };

  explicit Autograd(LayerTree& layers) : layers_(layers) {}

  // Enables opened(). Only the first call has an effect; the same goes for attach().
  void number_nodes(const Numbers& numbers);
  [[nodiscard]] bool numbered() const { return numbered_.load(std::memory_order_acquire); }
  // Enables telling running nodes apart.
  void attach(const Nodes& nodes);
  [[nodiscard]] bool attached() const { return attached_.load(std::memory_order_acquire); }

  // Says that `layer` is now this thread's open layer.
  void opened(NodeLayers& thread, LayerId layer);
  // Backward begins on this thread. Nodes that it makes itself, for a backward of its own (with
  // create_graph), are of the layer whose node makes them; after it opened() is to be called.
  void backward_begins(NodeLayers& thread);

  static constexpr std::uint64_t kNoNode = 0;
  // The node that runs on this thread, as a number that differs from node to node; kNoNode outside
  // backward.
  [[nodiscard]] std::uint64_t running_node() const { return running().address; }

  // The backward layer of the node that runs on this thread; 0 when there is none or it is not
  // known.
  [[nodiscard]] LayerId backward_layer(ThreadState& thread);

  // The layer of the same names in another direction; layers that have no direction keep none.
  [[nodiscard]] LayerId turned(LayerId layer, Direction direction);

 private:
  struct Running {
    std::uint64_t address = kNoNode, number = 0, maker = 0;
  };
  [[nodiscard]] Running running() const;
  [[nodiscard]] LayerId layer_of_node(ThreadState& thread, const Running& node);

  LayerTree& layers_;
  std::atomic<bool> numbered_{false}, attached_{false};
  Numbers numbers_;  // written once, before numbered_
  Nodes nodes_;      // written once, before attached_
  Mutex mutex_;
  // Layers with another direction, by layer and direction.
  std::unordered_map<std::uint64_t, LayerId> turned_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The playback GPU: one per process, inside the playback libcuda. It has a virtual host clock (ns)
// that moves by what calls cost and by waiting, and one timeline per stream. Everything that the
// two libraries and the player share is here.
#pragma once

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "analysis/recording/recording.h"
#include "tools/playback/driver/control.h"
#include "tools/playback/driver/tools.h"

namespace gable::playback {

struct Context;
struct Graph;

// What the player says about the next launch of its thread, beyond what the driver API can carry.
struct NextLaunch {
  const RecordedKernel* kernel = nullptr;  // null: found by the function's name
  const CounterValues* counters = nullptr;
  std::optional<std::uint64_t> time_ns;
  double scale = 1;
  std::uint64_t host_ns = 2000;
  HostMemory host = HostMemory::pinned;  // of a copy
};

struct Function {
  std::string name;
  struct Module* module = nullptr;
  // Of this name in the recording; the first one that fits the grid counts.
  std::vector<const RecordedKernel*> definitions;
};

struct Module {
  Context* context = nullptr;
  std::uint32_t id = 0;
  bool alive = true;
  const char* cubin = nullptr;  // what it was loaded from, while it is being loaded; null: PTX
  std::size_t cubin_bytes = 0;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

// A piece of work that a stream executes: what the playback CUPTI makes records and counters of.
struct Work {
  enum class Kind : std::uint8_t { kernel, copy, memset } kind = Kind::kernel;
  const Function* function = nullptr;
  const RecordedKernel* kernel = nullptr;   // null: a kernel that the recording does not know
  const CounterValues* counters = nullptr;  // valid during the call only
  double scale = 1;
  Dim3 grid, block, cluster;
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  CopyKind copy = CopyKind::other;
  HostMemory host = HostMemory::pinned;
  std::uint64_t bytes = 0;
  bool blocking = false;  // the call of a copy waits for it
  std::uint64_t duration_ns = 1000, start_ns = 0, end_ns = 0;
  std::uint32_t correlation = 0;
  std::uint64_t graph_node = 0;
  std::uint32_t graph = 0;
  Context* context = nullptr;
  std::uint32_t stream_id = 0;
  std::thread::id thread;  // that launched it
};

// Ids as CUPTI gives them: a node's has its graph's in the upper half. An executable graph has ids
// of its own.
struct GraphNode {
  std::uint64_t id = 0;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
  Work work;
  std::unique_ptr<Graph> child;   // of a node that is a graph
  std::uint64_t original_id = 0;  // in an executable graph: of the node that it was made from
  std::uint32_t original_graph = 0;
};

struct Graph {
  std::uint32_t id = 0;
  std::vector<std::unique_ptr<GraphNode>> nodes;
  std::vector<std::shared_ptr<const CounterValues>> kept;  // counters of the nodes
};

struct Stream {
  // Launches that may wait; then a launch blocks, as on a real GPU.
  static constexpr std::size_t kQueue = 1024;
  Context* context = nullptr;
  std::uint32_t id = 7;  // as CUPTI numbers them: 7 is the default stream
  std::uint64_t end_ns = 0;
  std::uint64_t submitted = 0;
  std::array<std::uint64_t, kQueue> ends{};
  bool alive = true;
  bool non_blocking = false;  // the legacy default stream does not wait for it, nor it for that
  std::unique_ptr<Graph> capture;  // while it captures
};

struct Context {
  std::uint32_t uid = 0;
  int device = 0;
  bool primary = false, alive = true;
  std::atomic<bool> serialise{false};  // automatic ranges: wait after each launch
  std::uint32_t retained = 0;
  Stream default_stream;
  std::map<std::thread::id, std::unique_ptr<Stream>> per_thread;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Module>> modules;
};

class Gpu {
 public:
  // Virtual time starts here: the same in every run.
  static constexpr std::uint64_t kEpoch = 1750000000000000000;

  static Gpu& get();  // reads GABLE_PLAYBACK at its first use; never destroyed

  const Recording& recording() const { return *recording_; }
  Control& control() { return control_; }

  // --- clock ---
  std::uint64_t now() const { return clock_.load(std::memory_order_acquire); }
  std::uint64_t advance(std::uint64_t ns) {
    return clock_.fetch_add(ns, std::memory_order_acq_rel) + ns;
  }
  void wait_until(std::uint64_t when);

  // --- objects; `mutex` guards the lists and timelines and is never held during callbacks ---
  std::mutex mutex;
  // Never shrinks, so that a dead handle is recognised.
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<Context*> primary;          // by device; null until retained
  Context* context_of(CUcontext handle);  // null when it is none, or destroyed
  bool was_context(CUcontext handle);
  Context* create_context(int device, bool is_primary);
  Stream* create_stream(Context* context, bool non_blocking);
  Module* create_module(Context* context);
  bool any_context();  // one was ever made
  Function* function(Module* module, const std::string& name);

  // Puts the work on its stream: fills start and end. Blocks (virtually) while the stream's queue
  // is full.
  void submit(Work& work, Stream& stream);
  std::uint64_t context_end(Context& context);
  // When the next work of the stream may begin, where the host is never late: after the stream's
  // own, and after that of streams that the legacy default stream orders. Under `mutex`.
  std::uint64_t stream_end(Stream& stream);

  std::atomic<bool> initialized{false};
  std::atomic<std::uint32_t> next_correlation{1};
  std::atomic<std::uint32_t> capturing{0};  // streams that capture now
  std::uint32_t next_uid = 1, next_stream = 13, next_module = 1, next_graph = 1;
  std::set<const GraphNode*> graph_nodes;  // that exist, so that a dead handle is recognised
  std::set<const Graph*> graphs;

  // --- the tools interface: set by the playback libcupti ---
  std::atomic<Tools*> tools{nullptr};
  std::array<std::atomic<bool>, kDriverCallbacks> wanted{};  // by callback id of the driver domain

 private:
  Gpu();
  std::unique_ptr<Recording> recording_;
  Control control_;
  std::atomic<std::uint64_t> clock_{kEpoch};
  std::unordered_map<std::string, std::vector<const RecordedKernel*>> by_name_;
};

// Per thread.
struct ThreadState {
  Context* current = nullptr;
  // Those under the current one, on the thread's stack of contexts.
  std::array<Context*, 16> below{};
  std::size_t depth = 0;
  NextLaunch next;
  bool has_next = false;
  int callback_depth = 0;  // inside a callback of the tools client
  bool in_driver_callback = false;
  bool in_injection = false;  // inside InitializeInjection, which the driver calls within cuInit
};
// To have it destroyed with its thread, glibc would take the loader's lock.
static_assert(std::is_trivially_destructible_v<ThreadState>);
ThreadState& thread_state();

// The value of a metric for one launch, as docs/recordings.md defines it; NaN is unknown.
double counter_value(const Work& work, const std::string& metric, const DeviceInfo& device);

}  // namespace gable::playback

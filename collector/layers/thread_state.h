// SPDX-License-Identifier: Apache-2.0
// What Gable keeps for each application thread. States are made on first use, kept in a registry
// for the reader, and used again after their thread has ended.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/base/mutex.h"
#include "collector/layers/autograd.h"
#include "collector/layers/event_ring.h"
#include "collector/layers/module_table.h"
#include "collector/layers/range_tracker.h"
#include "collector/layers/sampled_cost.h"
#include "collector/layers/span_sums.h"

namespace gable {

struct FunctionSlot {
  const void* handle = nullptr;
  const char* symbol = nullptr;
  std::uint32_t epoch = 0;
  FunctionId id = 0;
};

struct ContextSlot {
  const void* context = nullptr;
  std::uint32_t uid = 0;
  std::int32_t device = -1;
};

// What this thread does to CUDA graphs.
struct CaptureState {
  bool launching = false;       // in a launch that may become a node
  bool made_node = false;       // a node was made in that launch
  bool instantiating = false;   // a graph is being instantiated
  LaunchKey key;                // key of the launch
  WindowId window = kNoWindow;  // window and step in which the launch began
  std::uint32_t step = 0;
  std::vector<std::uint32_t> clones;  // graphs that were cloned for the one being instantiated
};

// The last backward node that launched a kernel on a thread, and its layer.
struct BackwardSlot {
  std::uint64_t number = 0, maker = 0;
  LayerId layer = 0;
};

// A synchronising call in progress in a time window.
struct Wait {
  LayerId layer = 0;
  WindowId window = kNoWindow;
  std::uint64_t start_ns = 0;  // 0: none
};

// A call in progress in a step that is recorded call by call.
struct OpenCall {
  WindowId window = kNoWindow;  // kNoWindow: it is not recorded
  std::uint32_t correlation = 0;
  std::uint64_t enter_ns = 0;
};

// A thread's own step ranges (--step-range).
struct OwnSteps {
  std::uint32_t epoch = 0;  // epoch of the queue that counts them
  std::uint32_t open = 0;
  std::uint32_t began_in = 0;  // step in which its last range began
};

// One per thread; members are ordered for reading, not for size.
struct ThreadState {  // NOLINT(clang-analyzer-optin.performance.Padding)
  ThreadRanges ranges;
  EventRing ring;
  SpanSums spans;
  SpanSums waits;  // in ns, not ticks
  Wait wait;
  OpenCall call;
  std::uint64_t input_start_ns = 0;  // start of the input being fetched; 0: none
  std::uint32_t number = 0;          // unique among all threads ever
  NodeLayers nodes;
  BackwardSlot backward;
  std::uint32_t open_operator = 0;  // of the framework, in a step that describes the model; 0: none
  ThreadModules modules;
  std::array<FunctionSlot, 1024> functions{};  // by hash of the handle
  ContextSlot context;
  OwnSteps steps;
  WindowId waited_in = kNoWindow;  // the time window of the last wait, until something is launched
  std::uint32_t launches = 0;      // launch count, for sampling Gable's own cost
  std::uint64_t followed = 0;      // launches, graphs included, while borders are looked for
  std::uint32_t stands_for = 0;    // launches that this sample stands for; 0: not sampled
  SampledCost entered_cost, left_cost;  // cost at a launch's ENTER and EXIT
  bool busy = false;  // in a slow path of Gable's: callbacks that it causes are not the program's
  std::atomic<bool> ours{false};  // a thread of Gable's: it launches nothing
  bool in_window_launch = false;  // between ENTER and EXIT of a launch that has a counter range
  CaptureState capture;
  // Odd between ENTER and EXIT of a launch (launch_gate.h), its correlation id, and the value that
  // was given up on.
  std::atomic<std::uint32_t> passing{0}, passing_id{0};
  std::uint32_t given_up = 0;
  std::atomic<std::uint64_t> overhead_ns{0};  // estimated cost of our callbacks since last read
  std::atomic<bool> taken{true};
};

// This thread's state. Never null; the first call on a thread allocates.
ThreadState& this_thread();

// Whether the main thread has called Gable and then ended by a system call, without the code that
// runs at a thread's end.
[[nodiscard]] bool main_thread_vanished();

class ThreadRegistry {
 public:
  static ThreadRegistry& instance();  // leaked on purpose: threads may outlive static destruction
  ThreadState* acquire();
  // `use` is called with every state, without the registry's lock held across it.
  template <typename Use>
  void each(Use&& use) {
    for (std::size_t i = 0;; ++i) {
      ThreadState* state = at(i);
      if (state == nullptr) return;
      use(*state);
    }
  }
  [[nodiscard]] std::size_t size();  // most threads of the program alive at once
  // Most launches other threads may have in progress at a border; that much extra room is needed.
  [[nodiscard]] std::size_t launches_of_others() {
    constexpr std::size_t kOfEach = 16;
    const auto threads = size();
    return threads > 0 ? (threads - 1) * kOfEach : 0;
  }
  // Drops the parent's threads in a forked child.
  static void forget_in_child();

 private:
  ThreadState* at(std::size_t index);
  Mutex mutex_;
  std::uint32_t threads_ GABLE_GUARDED_BY(mutex_) = 0;  // so far
  std::vector<std::unique_ptr<ThreadState>> states_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Tracks the open layers: push/pop ranges by thread, start/end ranges for the whole process. Knows
// no NVTX type; the NVTX entry points (nvtx_entry.h) call it. Made for speed: a push of a known
// name is one hash and one look-up.
//
// A launch's layer is: the process ranges that are open (in the order of their starts), then the
// thread's ranges. A thread with none of either takes the layer of the main thread, which is how
// kernels launched by PyTorch's autograd threads get a layer; such a launch is marked as inherited.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/mutex.h"
#include "analysis/events/events.h"
#include "analysis/events/layer_tree.h"
#include "collector/layers/collective_messages.h"
#include "collector/layers/communicator.h"
#include "collector/options/range_name.h"

namespace gable {

using DomainId = std::uint32_t;  // 0 is the default domain

// Told of step borders and of finished ranges; implemented by the session.
class RangeListener {
 public:
  virtual ~RangeListener() = default;
  virtual void step_range_begin() = 0;
  virtual void step_range_end() = 0;
  // Ranges that are looked at (RangeTracker::look_at), as many as are open around one: `level`.
  // `thread` is null for ranges of the whole process.
  virtual void range_begins(std::uint32_t level, LayerId layer, const void* thread) = 0;
  virtual void range_ends(std::uint32_t level, const void* thread) = 0;
  // Called when NCCL makes a communicator, at least once per thread that does.
  virtual void communicator_made(Communicator which) = 0;
};

// One thread's open ranges and its cache of names; only that thread uses it.
class ThreadRanges {
 public:
  struct Open {
    LayerId layer;
    DomainId domain;
    WindowId window;  // window in which it was pushed
    bool is_step;
    std::uint64_t start_ticks;  // 0 if no window was open
    std::uint32_t levels = 1;   // names below the range around it; 0: no layer of its own
    std::uint64_t token = 0;    // the called module, if it is one
    std::uint64_t node = 0;     // the backward node that ran on the thread when it was opened
    bool automatic = false;     // ends when another range is opened beside it
  };
  std::vector<Open> open;
  std::vector<std::uint32_t> depth;  // open ranges by domain
  LayerId current = 0;               // layer of the innermost range; 0: none is open
  std::uint64_t base_version = 0;    // version of the process ranges that `current` includes
  std::uint32_t epoch = 0;           // epoch in which `open` is valid
  bool is_main = false;
  CollectiveMessages collectives;

  struct Known {
    std::uint64_t hash = 0;
    LayerId parent = 0, layer = 0;
    std::uint32_t length = 0;
    std::uint32_t levels = 1;  // names below the parent
    bool is_step = false, used = false;
  };
  // In groups of kWays: a name is in the group of its hash. Grows to at most kMostKnown names, so
  // that a program that makes up a new name every time costs no memory.
  static constexpr std::size_t kWays = 4, kFirstKnown = 1024, kMostKnown = 16384;
  std::vector<Known> known;
  std::string buffer;
};

class RangeTracker {
 public:
  // The domain "gable", in which the Python side names modules: its names stand alone, as the user
  // knows them. Every other named domain's ranges are shown as "domain:name".
  static constexpr DomainId kOwnDomain = 1;

  // `domains`: those of the process this one was forked from, whose handles stay valid.
  RangeTracker(LayerTree& layers, RangeNaming naming, std::vector<std::string> domains);

  void set_listener(RangeListener* listener) {
    listener_.store(listener, std::memory_order_release);
    if (const auto which = communicator_.load(); which != Communicator::none)
      listener->communicator_made(which);
  }

  // The listener is told of ranges with fewer than `levels` others around them, but for those of
  // the domain "gable": Python says its steps itself.
  void look_at(std::uint32_t levels) { looked_at_.store(levels, std::memory_order_relaxed); }

  DomainId domain(std::string_view name);  // the same name gives the same id
  [[nodiscard]] std::string domain_name(DomainId id) const;
  // All names by id; empty when another thread was just adding one. For a forked child.
  [[nodiscard]] std::vector<std::string> domains_after_fork() const;

  // Returns the depth before the push (0 for the domain's first on the thread), as nvtxRangePush
  // does.
  int push(ThreadRanges& thread, DomainId domain, std::string_view name, Direction direction,
           WindowId window, std::uint64_t now_ticks);
  // The same for a layer that is known already, after catch_up().
  int push_layer(ThreadRanges& thread, DomainId domain, const ThreadRanges::Open& range);
  struct Popped {
    int depth = -1;  // depth of the range that ended; -1: no range was open in that domain
    ThreadRanges::Open range{};
  };
  Popped pop(ThreadRanges& thread, DomainId domain);

  // Puts the thread's layers below the process ranges that are open now.
  void catch_up(ThreadRanges& thread) {
    if (thread.base_version != base_version_.load(std::memory_order_acquire)) rebase(thread);
  }

  std::uint64_t start(DomainId domain, std::string_view name, Direction direction);
  void end(std::uint64_t id);
  // Forgets all open ranges on all threads, because begins and ends were missed.
  void forget_open();

  // The layer of a launch on this thread.
  LayerId layer_of_launch(ThreadRanges& thread, bool& inherited) {
    catch_up(thread);
    if (!thread.open.empty() || thread.is_main) {
      inherited = false;
      return thread.current;
    }
    if (thread.current != 0) {  // process ranges are open
      inherited = false;
      return thread.current;
    }
    const LayerId main = main_layer_.load(std::memory_order_relaxed);
    inherited = main != 0;
    return main;
  }

 private:
  struct ProcessRange {
    std::uint64_t id;
    DomainId domain;
    std::string name;
    Direction direction;
    bool is_step;
    LayerId layer;
  };

  ThreadRanges::Known& find(ThreadRanges& thread, LayerId parent, DomainId domain,
                            std::string_view cut, Direction direction);
  static ThreadRanges::Known& place(ThreadRanges& thread, std::uint64_t hash);
  LayerId make_child(LayerId parent, DomainId domain, const std::string& text, Direction direction);
  [[nodiscard]] bool is_xla(DomainId domain) const {
    return domain == xla_domain_.load(std::memory_order_relaxed) && domain != 0;
  }
  LayerId moved(LayerId parent, LayerId old, std::uint32_t levels);
  void rebase(ThreadRanges& thread);
  void rebuild_base() GABLE_REQUIRES(base_mutex_);
  void look_for_communicator(DomainId domain, std::string_view name);
  // Whether the listener is told of a range with `around` ranges of its thread around it.
  [[nodiscard]] bool is_looked_at(std::size_t around, DomainId domain, std::uint32_t& level) const {
    const auto levels = looked_at_.load(std::memory_order_relaxed);
    if (around >= levels || domain == kOwnDomain) return false;
    level = static_cast<std::uint32_t>(around) + process_open_.load(std::memory_order_relaxed);
    return level < levels;
  }
  void publish(ThreadRanges& thread) {
    if (thread.is_main) main_layer_.store(thread.current, std::memory_order_relaxed);
  }

  LayerTree& layers_;
  const RangeNaming naming_;
  std::atomic<RangeListener*> listener_{nullptr};
  std::atomic<Communicator> communicator_{Communicator::none};  // the last communicator made
  std::atomic<LayerId> main_layer_{0};
  std::atomic<std::uint64_t> base_version_{0};
  std::atomic<LayerId> base_layer_{0};
  std::atomic<std::uint32_t> epoch_{0};
  std::atomic<DomainId> xla_domain_{0};         // 0: it has none yet
  std::atomic<std::uint32_t> looked_at_{0};     // levels of ranges the listener is told of
  std::atomic<std::uint32_t> process_open_{0};  // number of open process ranges

  // Never held while calling the listener.
  mutable Mutex base_mutex_;
  std::vector<ProcessRange> process_ GABLE_GUARDED_BY(base_mutex_);
  std::uint64_t next_id_ GABLE_GUARDED_BY(base_mutex_) = 1;

  mutable Mutex domain_mutex_;
  std::vector<std::string> domains_ GABLE_GUARDED_BY(domain_mutex_);  // by id; "" and "gable" first
};

}  // namespace gable

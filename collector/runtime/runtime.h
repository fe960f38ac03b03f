// SPDX-License-Identifier: Apache-2.0
// What one process has of Gable, made on first use by whichever entry comes first (CUDA's or
// NVTX's) and never destroyed: callbacks may come until the very end of the process.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/events/function_table.h"
#include "analysis/events/layer_tree.h"
#include "collector/layers/autograd.h"
#include "collector/layers/model_table.h"
#include "collector/layers/module_table.h"
#include "collector/layers/range_tracker.h"
#include "collector/layers/thread_state.h"
#include "collector/options/block.h"
#include "collector/options/settings.h"
#include "collector/process/notes.h"
#include "collector/process/ranks.h"

namespace gable {

class Session;

// Read on every launch and NVTX call, written at step borders.
struct Hot {
  alignas(64) std::atomic<bool> watching{false};  // launches are followed
  std::atomic<bool> pending{false};         // the next launch has to apply a change of phase first
  std::atomic<bool> counters{false};        // the window collects counters
  std::atomic<WindowId> window{kNoWindow};  // that launches belong to
  std::atomic<WindowId> span_window{kNoWindow};  // the same in time windows, else none
  // The same in time windows of steps that are recorded call by call, and from there to the next
  // window.
  std::atomic<WindowId> call_window{kNoWindow};
  std::atomic<std::uint32_t> step{0};
  std::atomic<LayerId> copies{0};  // the layer of copies that are in no other
};

struct Runtime {
  Runtime(Settings chosen, std::vector<std::string> domains);

  Hot hot;  // first: it is aligned
  const Settings settings;
  std::atomic<bool> ranks{many_ranks()};  // one of several, as far as is known by now
  Notes notes;
  LayerTree layers;
  FunctionTable functions;
  RangeTracker ranges;
  ModuleTable modules;
  ModelTable model;
  Autograd autograd;
  std::atomic<Session*> session{nullptr};
  EarlyBlock early_block;
  // Waits of ours that ended because they took too long: for CUPTI, records or other threads.
  std::atomic<std::uint32_t> timeouts{0};
  void count_timeout(std::uint32_t count = 1) {
    timeouts.fetch_add(count, std::memory_order_relaxed);
  }
  std::uint64_t started_ns;  // steady clock
};

// The process's runtime; the first call reads GABLE_OPTIONS.
Runtime& runtime();

// In a forked child: everything starts anew, nothing of the parent's is touched.
void restart_runtime_in_child();

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Gable's state in a process, made by the first entry used (CUDA's or NVTX's) and never destroyed:
// callbacks may come until the very end of the process.
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
#include "collector/options/ranks.h"
#include "collector/options/settings.h"
#include "collector/process/notes.h"

namespace gable {

class Session;

// Read on every launch and NVTX call, written at step borders.
struct Hot {
  alignas(64) std::atomic<bool> watching{false};  // launches are followed
  std::atomic<bool> pending{false};         // the next launch has to apply a change of phase first
  std::atomic<bool> counters{false};        // the window collects counters
  std::atomic<WindowId> window{kNoWindow};  // window that launches belong to
  std::atomic<WindowId> span_window{kNoWindow};  // the same in time windows, otherwise kNoWindow
  // The same in time windows of steps recorded call by call, and until the next window.
  std::atomic<WindowId> call_window{kNoWindow};
  std::atomic<std::uint32_t> step{0};
  std::atomic<LayerId> copies{0};  // layer of copies outside any other layer
};

struct Runtime {
  Runtime(Settings chosen, std::vector<std::string> domains);

  Hot hot;  // first: it is aligned
  const Settings settings;
  std::atomic<bool> ranks{many_ranks()};  // the process is known to be one of several ranks
  Notes notes;
  LayerTree layers;
  FunctionTable functions;
  RangeTracker ranges;
  ModuleTable modules;
  ModelTable model;
  Autograd autograd;
  std::atomic<Session*> session{nullptr};
  EarlyBlock early_block;
  // Number of Gable's waits that timed out: for CUPTI, records or other threads.
  std::atomic<std::uint32_t> timeouts{0};
  void count_timeout(std::uint32_t count = 1) {
    timeouts.fetch_add(count, std::memory_order_relaxed);
  }
  std::uint64_t started_ns;  // steady clock
};

// The process's runtime; the first call reads GABLE_OPTIONS.
Runtime& runtime();

// Restarts everything in a forked child, without touching the parent's state.
void restart_runtime_in_child();

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// The parts that the paths of one run work with. Session makes them, and they are never destroyed.
#pragma once

#include <atomic>
#include <cstdint>

#include "collector/counters/counters.h"
#include "collector/cupti/activity_stream.h"
#include "collector/cupti/cupti_api.h"
#include "collector/cupti/gpu_watch.h"
#include "collector/layers/graph_nodes.h"
#include "collector/layers/launch_filter.h"
#include "collector/queue/range_choice.h"
#include "collector/runtime/event_sink.h"
#include "collector/runtime/runtime.h"
#include "collector/windows/windows.h"

namespace gable {

struct Collection {
  Collection(Runtime& runtime, CuptiApi calls, const Windows::Hooks& hooks);
  Collection(const Collection&) = delete;
  Collection& operator=(const Collection&) = delete;

  [[nodiscard]] bool wants_counters() const {
    return rt.settings.phase_hw || rt.settings.phase_flops;
  }
  // Has NVML watch the GPUs while a window is open.
  void watch_gpus();
  // Forgets function handles and names in modules, which may be reused from here on.
  void forget_handles() { unload_epoch.fetch_add(1, std::memory_order_relaxed); }

  Runtime& rt;
  CuptiApi api;  // nobody changes it once there is a subscription
  EventSink sink;
  LaunchFilter filter;
  GraphNodes graph_nodes;
  std::atomic<std::uint32_t> unload_epoch{1};  // 1 + number of calls of forget_handles()
  ActivityStream activity;
  const RangeChoice range_choice;
  GpuWatch gpus;
  Counters counters;
  Windows windows;
  // CUPTI is unavailable: only NVTX ranges are collected.
  std::atomic<bool> ranges_only{false};
};

}  // namespace gable

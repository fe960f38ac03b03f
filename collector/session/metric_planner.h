// SPDX-License-Identifier: Apache-2.0
// Which metrics are counted in which pass on this machine's GPUs: made by the worker once the
// program has a GPU, awaited by the first counter window.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "analysis/base/mutex.h"
#include "collector/cupti/device_query.h"
#include "collector/metrics/plan.h"
#include "collector/session/collection.h"

namespace gable {

class MetricPlanner {
 public:
  // How long the helper of the driver's start may wait for the loader before it counts as blocked
  // by a constructor.
  static constexpr std::chrono::milliseconds kLoaderPatience{500};

  // `wake`: has the worker call make(). `dying`: a signal ends the program.
  MetricPlanner(Collection& collection, std::function<void()> wake, std::function<bool()> dying,
                std::chrono::milliseconds loader_patience = kLoaderPatience);

  // Says that the program has a context or launches something. Cheap after the first call.
  void saw_gpu() {
    if (!saw_gpu_.load(std::memory_order_relaxed)) ask();
  }
  // Says that nothing will be counted, so nobody waits for a plan.
  void leave_out();

  // Makes the plan; called once, on the worker.
  void make();
  // Waits for the plan; nullptr if counters are unavailable or it comes too late.
  [[nodiscard]] const MetricPlan* wait();
  // The plan, or nullptr if it is not made yet.
  [[nodiscard]] const MetricPlan* known();
  // A program may end before its GPU was asked what it is, and what would be counted there: the
  // report says how many steps that takes. Waits a bounded time.
  void wait_for_devices();

 private:
  void ask();
  [[nodiscard]] bool behind_loader() const;
  [[nodiscard]] MetricPlan plan_of(const std::string& chip);
  [[nodiscard]] MetricPlan plan_for(const std::vector<DeviceInfo>& devices);
  void tell(const MetricPlan& plan);

  Collection& c_;
  const std::function<void()> wake_;
  const std::function<bool()> dying_;
  const std::chrono::milliseconds loader_patience_;
  const DriverCalls driver_;
  std::atomic<bool> saw_gpu_{false};
  Mutex mutex_;  // CUPTI is never called while it is held
  Condition made_;
  bool done_ GABLE_GUARDED_BY(mutex_) = false;
  bool devices_known_ GABLE_GUARDED_BY(mutex_) = false;
  MetricPlan plan_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

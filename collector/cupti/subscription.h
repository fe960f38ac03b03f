// SPDX-License-Identifier: Apache-2.0
// Gable as the subscriber of CUPTI: which callbacks it hears, and how it lets go again.
#pragma once

#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "analysis/base/mutex.h"
#include "collector/cupti/cupti_api.h"
#include "collector/process/undo.h"

namespace gable {

class Subscription {
 public:
  explicit Subscription(const CuptiApi& api) : api_(api) {}

  // Subscribes and enables every callback that is watched. Empty, or a sentence that says why not,
  // with the remedy and, where CUPTI tells it, the holder; then nothing is subscribed. Where CUPTI
  // does not return in time `late` hears what came of it, on a thread of ours, if it ever does.
  using Late = std::function<void(const std::string& refused)>;
  [[nodiscard]] std::string begin(CUpti_CallbackFunc callback, void* data, Late late);
  // Whether the last begin() failed because CUPTI cannot work with this driver.
  [[nodiscard]] bool driver_refused() const { return driver_refused_; }
  // No callback comes any more, but for those that tell of captures: records may still be asked
  // for.
  void silence();
  // Another tool may subscribe. From any thread; later calls do nothing.
  void end();

 private:
  std::string begin_here(CUpti_CallbackFunc callback, void* data);
  void undo(std::initializer_list<Undo*> calls);
  CUptiResult subscribe(CUpti_CallbackFunc callback, void* data, std::string& holder);
  CUptiResult enable(CUpti_CallbackDomain domain, CUpti_CallbackId id);

  const CuptiApi& api_;
  CUpti_SubscriberHandle handle_ = nullptr;
  std::atomic<bool> driver_refused_{false};
  Mutex mutex_;  // of those below; never held while CUPTI is called
  Undo subscribed_ GABLE_GUARDED_BY(mutex_);
  Undo captures_ GABLE_GUARDED_BY(mutex_);
  Undo callbacks_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Gable's subscription to CUPTI: which callbacks are enabled, and how it ends.
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

  // Subscribes and enables every callback that is watched. Returns an empty text, or a sentence
  // that says why not, with the remedy and, if known, the other subscriber; then nothing is
  // subscribed. If CUPTI does not return in time, `late` gets the result on a helper thread, should
  // it ever come.
  using Late = std::function<void(const std::string& refused)>;
  [[nodiscard]] std::string begin(CUpti_CallbackFunc callback, void* data, Late late);
  // Whether the last begin() failed because CUPTI cannot work with this driver.
  [[nodiscard]] bool driver_refused() const { return driver_refused_; }
  // Disables all callbacks except those about captures: records may still be requested.
  void silence();
  // Unsubscribes, so that another tool may subscribe. From any thread; later calls do nothing.
  void end();

 private:
  std::string begin_here(CUpti_CallbackFunc callback, void* data);
  void undo(std::initializer_list<Undo*> calls);
  CUptiResult subscribe(CUpti_CallbackFunc callback, void* data, std::string& holder);
  CUptiResult enable(CUpti_CallbackDomain domain, CUpti_CallbackId id);

  const CuptiApi& api_;
  CUpti_SubscriberHandle handle_ = nullptr;
  std::atomic<bool> driver_refused_{false};
  Mutex mutex_;  // guards what follows; never held while calling CUPTI
  Undo subscribed_ GABLE_GUARDED_BY(mutex_);
  Undo captures_ GABLE_GUARDED_BY(mutex_);
  Undo callbacks_ GABLE_GUARDED_BY(mutex_);
};

}  // namespace gable

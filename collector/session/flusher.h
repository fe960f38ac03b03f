// SPDX-License-Identifier: Apache-2.0
// A thread that only asks CUPTI for records, so that if that call hangs, as it has, only this
// thread does.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "analysis/base/mutex.h"
#include "collector/cupti/activity_stream.h"

namespace gable {

class Flusher {
 public:
  // `dying`: a signal ends the program.
  Flusher(const CuptiApi& api, ActivityStream& activity, std::function<bool()> dying)
      : api_(api), activity_(activity), dying_(std::move(dying)) {}

  [[nodiscard]] bool start();  // false if no thread could be started
  // Asks for a flush, without waiting.
  void ask();
  // Asks for a flush and waits at most `patience`; returns false if CUPTI did not answer in time.
  bool flush(bool forced, std::chrono::milliseconds patience);

 private:
  void run();

  const CuptiApi& api_;
  ActivityStream& activity_;
  const std::function<bool()> dying_;
  Mutex mutex_;  // never held while CUPTI is called
  Condition asked_, done_one_;
  std::uint64_t wanted_ GABLE_GUARDED_BY(mutex_) = 0;  // number of flushes asked for
  std::uint64_t done_ GABLE_GUARDED_BY(mutex_) = 0;
  bool forced_ GABLE_GUARDED_BY(mutex_) = false;
};

}  // namespace gable

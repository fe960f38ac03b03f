// SPDX-License-Identifier: Apache-2.0
// The playback libcupti: buffers of activity records. A record takes its place in a buffer of the
// client when its work is submitted, with both times 0, and gets its times when the virtual clock
// has passed its end. A buffer goes back to the client when it is full and complete (on a thread of
// CUPTI's own), or when it is flushed.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "tools/playback/cupti/activity_records.h"

namespace gable::playback {

struct Buffer {
  std::uint8_t* data = nullptr;
  std::size_t size = 0, valid = 0, max_records = 0, records = 0;
  std::vector<Slot> slots;
  std::uint64_t last_end = 0;
};

class Activity {
 public:
  static Activity& get() {
    static auto* activity = new Activity;
    return *activity;
  }

  CUptiResult register_callbacks(CUpti_BuffersCallbackRequestFunc request,
                                 CUpti_BuffersCallbackCompleteFunc complete) {
    const std::lock_guard<std::timed_mutex> lock(mutex_);
    request_ = request;
    complete_ = complete;
    return CUPTI_SUCCESS;
  }

  std::atomic<bool>& enabled(CUpti_ActivityKind kind) {
    return enabled_[static_cast<std::size_t>(kind)];
  }
  void disable_all() {
    for (auto& kind : enabled_) kind = false;
  }
  bool kernels() const {
    return enabled_[CUPTI_ACTIVITY_KIND_KERNEL] || enabled_[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL];
  }

  void append(const Work& work);
  CUptiResult flush(bool forced);
  // Returns false if CUPTI's lock stays taken for long: the caller holds a lock that a buffer
  // callback waits for.
  bool take_dropped(std::size_t& dropped);

 private:
  std::atomic<bool> one_missed_{false};   // the record that never comes, of the switch
  std::uint8_t* place(std::size_t size);  // mutex_ held
  void hand_over_full();                  // mutex_ held
  void deliver(Buffer& buffer);           // mutex_ not held
  void work();                            // CUPTI's own thread

  // Held while asking for a buffer, as CUPTI's own lock is; not while giving one back.
  std::timed_mutex mutex_;
  std::condition_variable_any wake_, idle_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  std::array<std::atomic<bool>, CUPTI_ACTIVITY_KIND_COUNT> enabled_{};
  std::unique_ptr<Buffer> current_;
  std::deque<std::unique_ptr<Buffer>> full_, ready_;
  bool worker_started_ = false;
  int delivering_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace gable::playback

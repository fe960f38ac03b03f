// SPDX-License-Identifier: Apache-2.0
// Takes activity records from CUPTI's buffers into the profile.
#pragma once

#include <atomic>
#include <cstdint>

#include "analysis/base/mutex.h"
#include "collector/session/collection.h"

namespace gable {

class Records {
 public:
  explicit Records(Collection& collection) : c_(collection) {}

  // Reads the returned buffers and adds their records, from any thread. Two threads may end the
  // collection at once; one that finds no buffers waits until the other has added its records.
  // Returns false if CUPTI does not answer or has blocked another thread for too long.
  bool collect();
  [[nodiscard]] std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  class Turn;
  void add(ActivityBatch& batch);

  Collection& c_;
  std::atomic<std::uint64_t> count_{0};  // records read so far
  // One thread at a time, from reading CUPTI's buffers until their records are added; the mutex is
  // held for the flag alone.
  Mutex mutex_;
  Condition read_;
  bool reading_ GABLE_GUARDED_BY(mutex_) = false;
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Counter windows whose ranges are layers. The border is lazy: a range stays open until a launch of
// another layer comes, so that a program that launches layer after layer pays one push and one pop
// for each.
#include <algorithm>
#include <utility>

#include "collector/counters/counter_window.h"

namespace gable {

// One launch at a time, as for ranges of launches: none may begin in a range that another thread
// closes.
bool CounterWindow::before_launch(std::uint32_t ordinal, const Launch& launch) {
  const char* name = nullptr;
  bool was_open = false;
  {
    UniqueLock lock(mutex_);
    if (!active_ || failure_.failed()) return false;
    if (unranged_ > 0 || !take_turn(lock)) {
      if (active_) ++unranged_;
      return false;
    }
    const bool goes_on = range_open_ && launches_.back().key == launch.key;
    if (!goes_on && launches_.size() >= max_ranges_) {
      ++unranged_;
      return false;
    }
    if (!goes_on) {
      name = names_[launches_.size()];
      was_open = std::exchange(range_open_, true);
      launches_.push_back({launch.key, ordinal, true, 0, 0, 0, 1});
    }
    RangedLaunch& range = launches_.back();
    ++range.launches;
    range.blocks += launch.blocks;
    range.newest = std::max(range.newest, launch.function);
    last_blocks_ = launch.blocks;
    if (launches_.size() == 1 && range.launches == 1) stream_ = launch.stream;
    several_streams_ = several_streams_ || launch.stream != stream_;
    turn_taken_ = true;
    turn_owner_ = std::this_thread::get_id();
  }
  if (name == nullptr) return true;
  CuptiFailure failure;
  if (was_open) failure = profiler_.pop();
  if (!failure.failed()) failure = profiler_.push(name);
  if (!failure.failed()) return true;
  {
    const MutexLock hold(mutex_);
    range_open_ = false;
  }
  fail(failure);
  return false;
}

void CounterWindow::end_layer_launch(bool launched) {
  {
    const MutexLock hold(mutex_);
    if (!active_ || !turn_taken_ || turn_owner_ != std::this_thread::get_id()) return;
    RangedLaunch& range = launches_.back();
    if (!launched) {
      --range.launches;
      range.blocks -= last_blocks_;
      range.launched = range.launches > 0;
    } else {
      range.launched = true;
    }
    turn_taken_ = false;
  }
  turn_free_.notify_one();
}

void CounterWindow::close_range() {
  {
    UniqueLock lock(mutex_);
    if (!active_ || !range_open_ || failure_.failed() || !take_turn(lock)) return;
    range_open_ = false;
    turn_taken_ = true;
    turn_owner_ = std::this_thread::get_id();
  }
  const auto failure = profiler_.pop();
  if (failure.failed()) return fail(failure);
  {
    const MutexLock hold(mutex_);
    turn_taken_ = false;
  }
  turn_free_.notify_one();
}

}  // namespace gable

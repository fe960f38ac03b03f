// SPDX-License-Identifier: Apache-2.0
#include "collector/counters/counter_window.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "analysis/base/mutex.h"
#include "collector/metrics/host_object.h"

namespace gable {
namespace {

// Names "0", "1" … for as long as the process runs: CUPTI may keep the pointers even beyond
// Disable.
void extend_names(std::vector<const char*>& names, std::size_t count) {
  static auto* const mutex = new Mutex;
  static auto* const pool = new std::deque<std::string>;
  const MutexLock hold(*mutex);
  while (pool->size() < count) pool->push_back(std::to_string(pool->size()));
  while (names.size() < count) names.push_back((*pool)[names.size()].c_str());
}

}  // namespace

CounterWindow::CounterWindow(ProfilerEngine& engine, CUcontext context, std::string chip)
    : profiler_(engine, context, std::move(chip)) {}

CuptiFailure CounterWindow::begin(const PassPlan& plan, std::size_t max_ranges, RangeMode mode) {
  return guarded([&]() -> CuptiFailure {
    plan_ = &plan;
    mode_ = mode;
    max_ranges_ = std::max<std::size_t>(max_ranges, 1);
    {
      const MutexLock hold(mutex_);
      if (active_) return {CUPTI_ERROR_INVALID_OPERATION, "A counter window is open already."};
      launches_.clear();
      launches_.reserve(max_ranges_);
      extend_names(names_, max_ranges_);
      unranged_ = uncountable_ = 0;
      parts_ = 0;
      range_open_ = several_streams_ = false;
      failure_ = {};
      turn_taken_ = false;
    }
    if (auto failure = profiler_.start(plan, mode, max_ranges_); failure.failed()) return failure;
    const MutexLock hold(mutex_);
    // CUPTI may have taken fewer, and does not say which launches found no room.
    max_ranges_ = std::min(max_ranges_, profiler_.most_ranges());
    active_ = true;
    return {};
  });
}

bool CounterWindow::take_turn(UniqueLock& lock) {
  if (turn_taken_ && turn_owner_ == std::this_thread::get_id())
    return false;  // a launch within a launch: waiting for ourselves would not help
  // Turns are not given in order, so that one of many threads may see many of them go by.
  for (auto seen = turns_;; seen = turns_) {
    if (turn_free_.wait_for(lock, kTurnTimeout,
                            [&]() GABLE_REQUIRES(mutex_) { return !turn_taken_ || !active_; }))
      break;
    if (seen == turns_) return false;
  }
  ++turns_;
  return active_ && !failure_.failed();  // false after a failed call
}

bool CounterWindow::before_launch(std::uint32_t ordinal, const LaunchKey& key, std::uint32_t parts,
                                  bool graph) {
  const char* name = nullptr;
  {
    UniqueLock lock(mutex_);
    if (!active_ || failure_.failed()) return false;
    if (parts == 0) {
      ++uncountable_;
      return false;
    }
    // One launch without a range spoils the window: nobody waits for a turn in it any more.
    if (unranged_ > 0 || !take_turn(lock) || parts_ + parts > max_ranges_) {
      if (active_) ++unranged_;
      return false;
    }
    name = names_[launches_.size()];
    // Within what begin reserved: allocates nothing.
    launches_.push_back({key, ordinal, true, 1, key.grid.count(), key.function, parts, graph});
    parts_ += parts;
    turn_taken_ = true;
    turn_owner_ = std::this_thread::get_id();
  }
  if (!are_pushed(mode_)) return true;
  auto failure = profiler_.push(name);
  if (!failure.failed()) return true;
  fail(failure);
  return false;
}

void CounterWindow::after_launch(bool launched) {
  if (mode_ == RangeMode::layer) return end_layer_launch(launched);
  bool pushed = false;
  {
    const MutexLock hold(mutex_);
    // The window ended without this launch: its range is not ours to pop any more.
    if (!active_ || !turn_taken_ || turn_owner_ != std::this_thread::get_id()) return;
    pushed = mode_ == RangeMode::user;
  }
  if (pushed)
    if (const auto failure = profiler_.pop(); failure.failed()) return fail(failure);
  {
    const MutexLock hold(mutex_);
    if (!active_ || !turn_taken_ || turn_owner_ != std::this_thread::get_id()) return;
    launches_.back().launched = launched;
    turn_taken_ = false;
  }
  turn_free_.notify_one();
}

// The first failing push or pop ends the counting of the window; its turn is given back.
void CounterWindow::fail(const CuptiFailure& failure) {
  {
    const MutexLock hold(mutex_);
    if (!failure_.failed()) failure_ = failure;
    turn_taken_ = false;
  }
  turn_free_.notify_all();
}

CounterResult CounterWindow::end() {
  CounterResult result;
  CuptiFailure first;
  bool open = false, launched = false;
  const auto failure = guarded([&]() -> CuptiFailure {
    {
      UniqueLock lock(mutex_);
      if (!active_) return {CUPTI_ERROR_INVALID_OPERATION, "No counter window is open."};
      // A graph alone may count nothing where kernels are replayed.
      launched = std::any_of(launches_.begin(), launches_.end(), [&](const RangedLaunch& each) {
        return !each.graph || mode_ != RangeMode::replay;
      });
      // A launch of this very thread cannot finish while we wait for it.
      const bool own = turn_taken_ && turn_owner_ == std::this_thread::get_id();
      if (own || !turn_free_.wait_for(lock, kTurnTimeout,
                                      [&]() GABLE_REQUIRES(mutex_) { return !turn_taken_; }))
        ++unranged_;
      active_ = false;
      result.unranged = unranged_;
      result.uncountable = uncountable_;
      open = std::exchange(range_open_, false);
      first = failure_;
    }
    turn_free_.notify_all();
    if (open)
      if (auto closed = profiler_.close_range(); closed.failed() && !first.failed()) first = closed;
    if (auto stopped = profiler_.stop(); stopped.failed() && !first.failed()) first = stopped;
    if (first.failed()) return first;
    RangeProfiler::Reading reading;
    if (auto read = profiler_.read(reading, launched); read.failed()) return read;
    const MutexLock hold(mutex_);
    join_ranges({launches_, plan_->metrics, mode_, max_ranges_, several_streams_}, reading, result);
    return {};
  });
  if (failure.failed()) {
    result.keep = false;
    result.reason = failure.sentence;
    result.code = failure.code;
  }
  if (!result.keep) {
    result.keys.clear();
    result.ordinals.clear();
    result.launches.clear();
    result.newest.clear();
    result.values.clear();
  }
  return result;
}

CuptiFailure CounterWindow::drop() {
  bool open = false;   // a launch's range, which its thread will not come to pop any more
  bool range = false;  // a layer's
  {
    const MutexLock hold(mutex_);
    if (!active_) return {};
    active_ = false;
    open = turn_taken_ && mode_ == RangeMode::user;
    range = std::exchange(range_open_, false);
  }
  turn_free_.notify_all();
  if (open)
    if (auto failure = profiler_.pop(); failure.failed()) return failure;
  if (range)
    if (auto failure = profiler_.close_range(); failure.failed()) return failure;
  return profiler_.stop();
}

CuptiFailure CounterWindow::close() {
  // CUPTI's rule: nothing is disabled between start and stop.
  auto dropped = drop();
  auto disabled = profiler_.disable();
  return dropped.failed() ? dropped : disabled;
}

void CounterWindow::abandon() {
  {
    const MutexLock hold(mutex_);
    active_ = range_open_ = false;
  }
  turn_free_.notify_all();
  profiler_.abandon();
}

bool CounterWindow::active() const {
  const MutexLock hold(mutex_);
  return active_;
}

bool CounterWindow::enabled() const { return profiler_.enabled(); }

bool CounterWindow::runs_on() const { return profiler_.runs_on(); }

std::uint64_t CounterWindow::image_bytes() const { return profiler_.image_bytes(); }

// --- Counter windows whose ranges are layers. The border is lazy: a range stays open until a
// launch of another layer comes, so that a program that launches layer after layer pays one push
// and one pop for each.

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
      launches_.push_back({launch.key, ordinal, true, 0, 0, 0, 1, false});
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

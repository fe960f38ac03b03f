// SPDX-License-Identifier: Apache-2.0
#include "collector/session/flusher.h"

#include <algorithm>

#include "collector/cupti/helpers.h"
#include "collector/process/own_thread.h"

namespace gable {
namespace {

constexpr std::chrono::milliseconds kSlice{100}, kLongestSlice{500};

}  // namespace

bool Flusher::start() {
  return start_own_thread("gable-flush", [this] { run(); });
}

void Flusher::ask() {
  const MutexLock hold(mutex_);
  ++wanted_;
  asked_.notify_one();
}

bool Flusher::flush(bool forced, std::chrono::milliseconds patience) {
  if (stuck(api_)) return false;
  UniqueLock hold(mutex_);
  const auto ticket = ++wanted_;
  forced_ = forced_ || forced;
  asked_.notify_one();
  const bool dies = dying_();  // a signal's end asks; everybody else's question ends with a signal
  // A program that somebody stops and continues takes no time meanwhile, and neither does CUPTI.
  for (std::chrono::nanoseconds waited{}; waited < patience;) {
    const auto since = std::chrono::steady_clock::now();
    if (done_one_.wait_for(hold, kSlice, [&]() GABLE_REQUIRES(mutex_) { return done_ >= ticket; }))
      return true;
    waited +=
        std::min<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - since, kLongestSlice);
    if (dying_() != dies) return false;
  }
  hold.unlock();
  // The signal may have stopped a thread of the program's within CUPTI, which is no fault of
  // CUPTI's.
  if (!dies) activity_.give_up_flush(patience);
  return false;
}

void Flusher::run() {
  UniqueLock hold(mutex_);
  for (;;) {
    asked_.wait(hold, [this]() GABLE_REQUIRES(mutex_) { return wanted_ > done_; });
    const auto ticket = wanted_;
    const bool forced = forced_;
    forced_ = false;
    hold.unlock();
    activity_.flush(forced);
    hold.lock();
    done_ = ticket;
    done_one_.notify_all();
  }
}

}  // namespace gable

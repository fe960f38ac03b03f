// SPDX-License-Identifier: Apache-2.0
// Held by the one thread that carries out a change of phase; other launches wait for it. Internal
// to Windows.
#pragma once

#include <chrono>
#include <thread>

#include "collector/process/clock.h"
#include "collector/windows/windows.h"

namespace gable {

class Windows::Change {
 public:
  // The first counter window of a context can take seconds.
  static constexpr std::chrono::seconds kPatience{10};

  explicit Change(Windows& windows, std::chrono::seconds patience = kPatience)
      : windows_(windows), thread_(this_thread()), of_program_(patience.count() > 0) {
    const auto give_up = std::chrono::steady_clock::now() + patience;
    while (windows_.changing_.exchange(true, std::memory_order_acquire)) {
      if (std::chrono::steady_clock::now() >= give_up) {
        if (patience.count() > 0) {
          windows_.flaw(kStuck);
          windows_.count_timeout();
        }
        return;
      }
      std::this_thread::yield();
    }
    held_ = true;
    thread_.busy = true;  // what CUPTI launches out of our calls is not the program's
  }
  ~Change() {
    if (of_program_)
      windows_.changes_ns_.fetch_add(steady_ns() - began_ns_, std::memory_order_relaxed);
    if (!held_) return;
    thread_.busy = false;
    windows_.changing_.store(false, std::memory_order_release);
  }
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  [[nodiscard]] bool held() const { return held_; }

 private:
  Windows& windows_;
  ThreadState& thread_;
  const std::uint64_t began_ns_ = steady_ns();
  const bool of_program_;  // our own threads do not wait
  bool held_ = false;
};

}  // namespace gable

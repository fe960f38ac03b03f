// SPDX-License-Identifier: Apache-2.0
// Calls that switch off what was switched on, run in reverse order on failure or at the end.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace gable {

class Undo {
 public:
  Undo() = default;
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;

  // Adds the call for something just switched on; it must not throw.
  void push(std::function<void()> call) { calls_.push_back(std::move(call)); }
  // Replaces this one's calls by those of another, which loses them.
  void take(Undo& other) {
    calls_.clear();
    calls_.swap(other.calls_);
  }
  void run() {
    while (!calls_.empty()) {
      const auto call = std::move(calls_.back());
      calls_.pop_back();
      call();
    }
  }

 private:
  std::vector<std::function<void()>> calls_;
};

}  // namespace gable

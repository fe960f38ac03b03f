// SPDX-License-Identifier: Apache-2.0
// What was switched on, as the calls that switch it off again. Whatever fails first, or ends, runs
// them all, the last first.
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

  // After something was switched on. `call` must not throw.
  void push(std::function<void()> call) { calls_.push_back(std::move(call)); }
  // What another one has, instead of what this one had.
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

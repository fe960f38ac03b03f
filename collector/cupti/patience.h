// SPDX-License-Identifier: Apache-2.0
// How long the program's threads wait for a CUPTI that does not answer, over all calls of the
// process: at most kBudget. After the first call that was given up CUPTI is left alone until that
// call returns, and nobody waits for it again.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "analysis/base/mutex.h"

namespace gable {

class Patience {
 public:
  using Milliseconds = std::chrono::milliseconds;
  // For one call, and for all that hang.
  static constexpr Milliseconds kPatience{2000}, kBudget{4000};
  // Stopping and decoding wait for the program's work in the context: where there is no answer,
  // that work gets its time first, and CUPTI some more after it.
  static constexpr Milliseconds kWorkPatience{10000}, kMorePatience{1000};
  // A call that has not returned by then never will.
  static constexpr Milliseconds kHope{60000};

  // `say` takes the one sentence about the call that was given up first. Before anything is given
  // up.
  void tell(std::function<void(const std::string&)> say);

  // A call that was given up has still not returned: CUPTI is to be left alone.
  [[nodiscard]] bool stuck() const {
    return hanging_.load(std::memory_order_acquire) > 0 ||
           left_.load(std::memory_order_relaxed) <= 0;
  }
  // A call that was given up may still return, and then everything goes on.
  [[nodiscard]] bool may_return() const;
  // For the next wait.
  [[nodiscard]] Milliseconds left() const;
  // `call` has not returned for `waited`. Nobody waits for it any more.
  void give_up(const char* call, Milliseconds waited);
  // It has returned all the same: it was slow, and what was waited for it is given back, at most
  // kBudget in all.
  void returned(Milliseconds waited = {});
  // How many threads of ours wait for the loader, for a call that nobody leaves to them any more.
  std::atomic<int> behind_loader{0};
  // What is said of a call that is not made, or was given up.
  [[nodiscard]] static std::string sentence(const char* call);

 private:
  std::atomic<int> hanging_{0};
  std::atomic<std::int64_t> left_{kBudget.count()};
  std::atomic<std::int64_t> to_give_back_{kBudget.count()};
  std::atomic<std::int64_t> since_ms_{0};  // the newest call was given up; of a steady clock
  Mutex mutex_;
  std::function<void(const std::string&)> say_ GABLE_GUARDED_BY(mutex_);
};

// What a thread of ours is calling, for whoever waits for it.
struct CallMark {
  std::atomic<const char*> name{nullptr};
  std::atomic<std::uint32_t> calls{0};  // so far
};

namespace detail {
// Of this thread, where somebody waits for it; else null.
CallMark*& call_mark();
}  // namespace detail

// Every call of CUPTI goes through here, so that one that hangs can be named:
// GABLE_CALL(api, cuptiActivityEnable, kind).
template <typename Function, typename... Arguments>
auto called(const char* name, Function* function, Arguments... arguments) {
  CallMark* const mark = detail::call_mark();
  if (mark != nullptr) {
    mark->name.store(name, std::memory_order_relaxed);
    mark->calls.store(mark->calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  return function(arguments...);
}
#define GABLE_CALL(api, name, ...) ::gable::called(#name, (api).name, __VA_ARGS__)

}  // namespace gable

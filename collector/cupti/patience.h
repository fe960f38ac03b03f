// SPDX-License-Identifier: Apache-2.0
// How long the program's threads wait for a CUPTI that does not answer, over all calls of the
// process: at most kBudget. After one call was abandoned, CUPTI is left alone until that call
// returns, and nobody waits for it again.
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
  // Limits for one call, and for all hanging calls together.
  static constexpr Milliseconds kPatience{2000}, kBudget{4000};
  // Limits for stopping and decoding, which wait for the program's work in the context: that work
  // gets kWorkPatience, and CUPTI kMorePatience after it.
  static constexpr Milliseconds kWorkPatience{10000}, kMorePatience{1000};
  // A call that has not returned by then is assumed never to.
  static constexpr Milliseconds kHope{60000};

  // Sets `say`, which gets the one sentence about the first abandoned call. Called before any is
  // abandoned.
  void tell(std::function<void(const std::string&)> say);

  // Whether an abandoned call has still not returned, so that CUPTI must be left alone.
  [[nodiscard]] bool stuck() const {
    return hanging_.load(std::memory_order_acquire) > 0 ||
           left_.load(std::memory_order_relaxed) <= 0;
  }
  // Whether an abandoned call may still return, after which everything continues.
  [[nodiscard]] bool may_return() const;
  // Time left for the next wait.
  [[nodiscard]] Milliseconds left() const;
  // Abandons `call`, which has not returned for `waited`.
  void give_up(const char* call, Milliseconds waited);
  // Says that an abandoned call was only slow and has returned: the time waited goes back to the
  // budget, at most kBudget in all.
  void returned(Milliseconds waited = {});
  // Number of helper threads waiting for the loader for a call now made elsewhere.
  std::atomic<int> behind_loader{0};
  // The sentence about a call that was not made or was abandoned.
  [[nodiscard]] static std::string sentence(const char* call);

 private:
  std::atomic<int> hanging_{0};
  std::atomic<std::int64_t> left_{kBudget.count()};
  std::atomic<std::int64_t> to_give_back_{kBudget.count()};
  std::atomic<std::int64_t> since_ms_{0};  // when the newest call was abandoned; steady clock
  Mutex mutex_;
  std::function<void(const std::string&)> say_ GABLE_GUARDED_BY(mutex_);
};

// What a helper thread is calling, for the thread that waits for it.
struct CallMark {
  std::atomic<const char*> name{nullptr};
  std::atomic<std::uint32_t> calls{0};  // number of calls so far
};

namespace detail {
// This thread's mark if somebody waits for it; else null.
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

// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/patience.h"

#include <algorithm>
#include <utility>

namespace gable {
namespace {

std::int64_t steady_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<Patience::Milliseconds>(now).count();
}

}  // namespace

namespace detail {

CallMark*& call_mark() {
  static thread_local CallMark* mark __attribute__((tls_model("initial-exec"))) = nullptr;
  return mark;
}

}  // namespace detail

void Patience::tell(std::function<void(const std::string&)> say) {
  const MutexLock hold(mutex_);
  say_ = std::move(say);
}

Patience::Milliseconds Patience::left() const {
  if (stuck()) return Milliseconds(0);
  return std::min(kPatience, Milliseconds(left_.load(std::memory_order_relaxed)));
}

bool Patience::may_return() const {
  return hanging_.load(std::memory_order_acquire) > 0 &&
         steady_ms() - since_ms_.load(std::memory_order_relaxed) < kHope.count();
}

void Patience::returned(Milliseconds waited) {
  auto most = to_give_back_.load(std::memory_order_relaxed);
  std::int64_t back = 0;
  do {
    back = std::min<std::int64_t>(waited.count(), most);
  } while (!to_give_back_.compare_exchange_weak(most, most - back, std::memory_order_relaxed));
  left_.fetch_add(back, std::memory_order_relaxed);
  hanging_.fetch_sub(1, std::memory_order_release);
}

void Patience::give_up(const char* call, Milliseconds waited) {
  since_ms_.store(steady_ms(), std::memory_order_relaxed);
  hanging_.fetch_add(1, std::memory_order_release);
  left_.fetch_sub(waited.count(), std::memory_order_relaxed);
  std::function<void(const std::string&)> say;
  {
    const MutexLock hold(mutex_);
    say.swap(say_);  // once
  }
  if (say) say(sentence(call) + " Your program runs on; what is missing stays unknown.");
}

std::string Patience::sentence(const char* call) {
  return std::string(call != nullptr ? call : "CUPTI") +
         " did not return in time; CUPTI is left alone until it does.";
}

}  // namespace gable

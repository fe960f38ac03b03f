// SPDX-License-Identifier: Apache-2.0
#include "tools/playback/cupti/cupti_state.h"

#include <pthread.h>

namespace gable::playback {
namespace {

std::atomic<bool> forked{false};

[[gnu::constructor]] void watch_forks() {
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
}

}  // namespace

Inside& inside() {
  thread_local Inside kind = Inside::nothing;
  return kind;
}

CUpti_ApiCallbackSite& driver_site() {
  thread_local CUpti_ApiCallbackSite site = CUPTI_API_ENTER;
  return site;
}

std::atomic<int>& driver_callbacks() {
  static auto* const count = new std::atomic<int>{0};
  return *count;
}

Callback::Callback(Inside kind)
    : before_(inside()), driver_before_(gable_playback_thread()->in_driver_callback) {
  inside() = kind;
  ThreadState* thread = gable_playback_thread();
  ++thread->callback_depth;
  thread->in_driver_callback = kind == Inside::driver;
  if (kind == Inside::driver) driver_callbacks().fetch_add(1);
}

Callback::~Callback() {
  if (inside() == Inside::driver) driver_callbacks().fetch_sub(1);
  inside() = before_;
  ThreadState* thread = gable_playback_thread();
  --thread->callback_depth;
  thread->in_driver_callback = driver_before_;
}

std::optional<CUptiResult> enter_call(const char* call) {
  if (forked.load(std::memory_order_relaxed))
    broken(std::string(call) + " was called in a forked child");
  if (const auto code = the_gpu().control().fault_of(call)) return static_cast<CUptiResult>(*code);
  the_gpu().control().delay(call);
  return std::nullopt;
}

void check_capture(const char* call) {
  if (the_gpu().capturing.load() > 0)
    broken(std::string(call) + " was called while a stream captures");
}

std::atomic<bool>& cupti_started() {
  static std::atomic<bool> started{false};
  return started;
}

std::atomic<int>& armed_profilers() {
  static std::atomic<int> count{0};
  return count;
}

}  // namespace gable::playback

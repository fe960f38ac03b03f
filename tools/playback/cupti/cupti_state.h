// SPDX-License-Identifier: Apache-2.0
// What the parts of the playback libcupti share.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/playback/driver/gpu.h"
#include "tools/playback/driver/side.h"

namespace gable::playback {

inline Gpu& the_gpu() { return *gable_playback_gpu(); }
inline void broken(const std::string& what) { the_gpu().control().rule_broken(what); }

// The callback that the thread is in.
enum class Inside : std::uint8_t { nothing, driver, resource, buffer };
Inside& inside();
CUpti_ApiCallbackSite& driver_site();  // of the driver callback that the thread is in

std::atomic<int>& driver_callbacks();  // that are under way, on any thread

// Marks the thread as inside a callback while it lives.
class Callback {
 public:
  explicit Callback(Inside kind);
  ~Callback();
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

 private:
  Inside before_;
  bool driver_before_;
};

// Called at the start of every CUPTI call; returns a code that the call must return at once.
std::optional<CUptiResult> enter_call(const char* call);
#define GABLE_ENTER() \
  if (const auto refused = ::gable::playback::enter_call(__func__)) return *refused

// Profiler calls, flushes and waits are forbidden while any stream captures.
void check_capture(const char* call);

std::atomic<bool>& cupti_started();      // somebody has subscribed, or started the profiler engine
void load_own_module(Context* context);  // CUPTI's own, which it tells of like the program's
std::atomic<int>& armed_profilers();     // range profilers between Start and Stop
bool kernel_activity_enabled();
void engine_started();  // drops the activity subscriptions, unless a switch says otherwise
void engine_ended();    // the same, where a switch says so
void drop_callbacks();  // the subscriber hears nothing any more

// Work as the other parts see it.
void activity_submitted(const Work& work);
void range_submitted(const Work& work);
void range_captured(const Work& work);
void range_context_gone(Context* context);

// Registers with the playback libcuda; idempotent.
void attach();

}  // namespace gable::playback

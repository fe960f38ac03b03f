// SPDX-License-Identifier: Apache-2.0
// A range profiler object of CUPTI's with what it must keep: host objects, configurations, counter
// images. Internal to range_profiler.cpp.
#pragma once

#include <atomic>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collector/counters/range_profiler.h"
#include "collector/cupti/cupti_params.h"
#include "collector/metrics/host_object.h"

namespace gable {

struct RangeProfiler::State {
  // What a plan needs on the host: made at its first window and kept, since making it takes
  // milliseconds.
  struct Prepared {
    const PassPlan* plan = nullptr;
    std::unique_ptr<HostObject> host;  // has the plan's metrics added, for evaluation
    std::vector<const char*> names;
    std::vector<std::uint8_t>* image = nullptr;
    std::size_t image_ranges = 0;
  };

  ProfilerEngine& engine;
  const CuptiApi& api;
  const CUcontext context;
  const std::string chip;
  PatientCalls patient;
  // Only one of the calls below runs at a time, on any thread; other threads may read the atomics.
  std::atomic<CUpti_RangeProfiler_Object*> object{nullptr};
  bool range_open = false;  // between push and pop
  bool started = false;     // between start and stop
  // What `object` was configured with first. On an H200 a second SetConfig with other metrics, or
  // for another kind of range, succeeds and changes nothing: the object goes on with the first one.
  struct Configuration {
    const PassPlan* plan = nullptr;
    RangeMode mode = RangeMode::user;
    std::size_t ranges = 0;
    bool operator==(const Configuration& other) const {
      return plan == other.plan && mode == other.mode && ranges == other.ranges;
    }
  };
  std::optional<Configuration> configured;
  std::uint16_t target_level = 0;  // 0 in NVIDIA's samples; the older API wanted minNestingLevel
  std::list<Prepared> prepared;
  std::list<std::vector<std::uint8_t>> images;  // never freed before disable: CUPTI keeps pointers
  std::uint64_t bytes = 0;                      // of all images
  std::atomic<std::uint64_t> image_bytes{0};    // the most that were held; read by other threads
  Prepared* current = nullptr;
  // Other tools saw CUPTI refuse more than 2000 to 3000 ranges; these few should work anywhere.
  static constexpr std::size_t kLikelyRanges = 1024, kFewestRanges = 256;
  std::atomic<std::size_t> most_ranges{
      std::numeric_limits<std::size_t>::max()};  // less after a refusal
  std::atomic<bool> pinned{false};               // CUPTI may still use the images: never free them
  std::atomic<bool> runs_on{false};              // it could not be stopped
  // thread_proven: CUPTI counts on the helper's thread. thread_tried: CUPTI refused there, and
  // another thread was tried.
  bool thread_proven = false, thread_tried = false;
  bool decoded = false;                      // the last window was decoded
  const char* pushed = nullptr;              // the name that push() is to push
  CuptiFailure (State::*quick)() = nullptr;  // the push or pop to run, and its outcome
  CuptiFailure quick_failure;
  // Disable failed: the profiler may still be enabled, and its object may be gone all the same.
  mutable Mutex mutex;  // held for the sentences alone
  CuptiFailure not_disabled GABLE_GUARDED_BY(mutex);
  CuptiFailure refused_ranges GABLE_GUARDED_BY(mutex);  // why `most_ranges` is less

  State(ProfilerEngine& the_engine, CUcontext the_context, std::string the_chip)
      : engine(the_engine),
        api(the_engine.api()),
        context(the_context),
        chip(std::move(the_chip)),
        patient(the_engine.patience(), "gable-counters") {}

  CuptiFailure why_not_disabled() const {
    const MutexLock hold(mutex);
    return not_disabled;
  }

  CuptiFailure enable();
  CuptiFailure disable();  // frees the images: for 1000 ranges one takes 100 to 250 MB
  CuptiFailure prepare(const PassPlan& plan);
  // A counter image with room for `ranges`; one that became too small stays alive beside it. Asked
  // before every window: initializing an image says nothing of metrics, so CUPTI can only know them
  // from the last time this object was asked.
  CuptiFailure make_image(std::size_t ranges);
  // Makes the image empty, as it must be for every window.
  CuptiFailure reset_image();
  CUptiResult set_config(RangeMode mode);
  // A new object, where this one has another configuration.
  CuptiFailure renew(const Configuration& wanted);
  // Configures the object; if it refuses, though it was configured alike before, a new one.
  CuptiFailure configure(RangeMode mode);
  CuptiFailure start(const PassPlan& plan, RangeMode mode, std::size_t max_ranges);
  CuptiFailure begin(RangeMode mode, std::size_t ranges);
  CuptiFailure push();
  CuptiFailure pop();
  CuptiFailure stop();
  CuptiFailure decode(std::uint64_t& dropped);
  CuptiFailure read(Reading& reading);
  // Pops, stops and disables after a call that returned only after it was given up; what that call
  // did is unknown.
  void let_go();
};

}  // namespace gable

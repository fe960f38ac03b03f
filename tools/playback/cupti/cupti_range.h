// SPDX-License-Identifier: Apache-2.0
// The playback range profiler: one object per context, strict about order and lifetimes.
#pragma once

#include <cupti_range_profiler.h>

#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tools/playback/cupti/counter_image.h"
#include "tools/playback/cupti/cupti_state.h"
#include "tools/playback/cupti/played_release.h"

// The first statement of a call with a params struct.
#define GABLE_CHECK_STRUCT(params, expected)                                                     \
  do {                                                                                           \
    if ((params) == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;                               \
    if (!takes_size(__func__, (params)->structSize, (expected)) || (params)->pPriv != nullptr) { \
      ::gable::playback::broken(std::string(__func__) +                                          \
                                " got a structSize that is not that of its struct, or a pPriv"); \
      return CUPTI_ERROR_INVALID_PARAMETER;                                                      \
    }                                                                                            \
  } while (false)

namespace gable::playback {

// Limit beyond which some releases refuse (switch range_limit); seen on GPUs at 2000 to 3000.
inline constexpr std::size_t kRangeLimit = 2000;

// What was counted in one range instance, or in several of one name.
struct Collected {
  std::string name;
  std::vector<double> values;
  std::uint64_t launches = 0, first_start = ~std::uint64_t{0}, last_end = 0;
  bool counted_time = false;  // the recording has what a range counted as the time of the launch
};

// An image of the client that CUPTI keeps a pointer to until Disable.
struct Pinned {
  const std::uint8_t* data = nullptr;
  std::size_t size = 0;
  std::uint64_t sum = 0;
  const char* what = "";
};

}  // namespace gable::playback

struct CUpti_RangeProfiler_Object {
  gable::playback::Context* context = nullptr;
  bool context_gone = false, configured = false, started = false, stopped = false;
  int configurations = 0;
  std::uint32_t first_late_module = 0;  // modules of this number or later were loaded after Enable
  CUpti_ProfilerRange mode = CUPTI_Range_INVALID;
  std::size_t replays = 0;  // passes of kernel replay; 0: nothing is replayed
  std::size_t max_ranges = 0, levels = 1, first_level = 1;
  gable::playback::ConfigImage config;
  std::uint8_t* image = nullptr;
  std::size_t image_size = 0;
  std::thread::id starter;
  std::vector<gable::playback::Pinned> pins;
  // What GetCounterDataSize was asked for the last time: all that CUPTI can know of an image's
  // metrics.
  std::vector<std::string> asked_metrics;
  std::size_t asked_ranges = 0, asked_size = 0;

  std::vector<std::string> open;        // names, outermost first
  gable::playback::Collected instance;  // the range that is being counted
  bool counting = false;
  std::vector<gable::playback::Collected> collected;     // since Start, in the order of their ends
  std::unordered_map<std::string, std::size_t> by_name;  // of `collected`
  std::size_t automatic = 0, dropped = 0;
  bool cannot_stop = false;  // a graph ran where it may not
};

// Every call on an object begins so; `object` is it.
#define GABLE_RANGE_CALL(params, size)                                   \
  GABLE_ENTER();                                                         \
  GABLE_CHECK_STRUCT(params, size);                                      \
  const std::lock_guard<std::recursive_mutex> lock(range_mutex());       \
  CUptiResult refusal = CUPTI_SUCCESS;                                   \
  CUpti_RangeProfiler_Object* object =                                   \
      checked_object(__func__, (params)->pRangeProfilerObject, refusal); \
  if (object == nullptr) return refusal

namespace gable::playback {

// The object of a call, or null after having said what is wrong. Common to all calls on an object.
CUpti_RangeProfiler_Object* checked_object(const char* call, CUpti_RangeProfiler_Object* object,
                                           CUptiResult& refusal);
// Reports an image that was changed or freed since it was pinned.
void verify_pins(const char* call, const CUpti_RangeProfiler_Object& object);
void pin(CUpti_RangeProfiler_Object& object, const std::uint8_t* data, std::size_t size,
         const char* what);
std::recursive_mutex& range_mutex();  // guards all objects

// Reports that a rule forbids the call, and returns CUPTI_ERROR_INVALID_OPERATION.
CUptiResult refuse(const char* call, const char* why);
void check_current(const char* call, const CUpti_RangeProfiler_Object& object);
// Whether the call (enable, initialize, set_config, start) is the one that asks for the permission,
// which is missing.
// What calls for counters are answered on this GPU: success where it has them.
CUptiResult refused_device();
bool permission_missing(const char* at, const ConfigImage* config = nullptr);

}  // namespace gable::playback

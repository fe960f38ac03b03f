// SPDX-License-Identifier: Apache-2.0
// The CUPTI calls that Gable makes, as a table of function pointers, filled at run time from a
// libcupti that is opened (never linked). Tests fill it with functions of their own. Nothing else
// in Gable calls CUPTI.
#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collector/cupti/patience.h"

namespace gable {

struct Helpers;

// Needed for anything at all: callbacks and activity records.
#define GABLE_CUPTI_TRACING(X)      \
  X(cuptiGetVersion)                \
  X(cuptiGetResultString)           \
  X(cuptiSubscribe)                 \
  X(cuptiUnsubscribe)               \
  X(cuptiEnableCallback)            \
  X(cuptiGetTimestamp)              \
  X(cuptiGetDeviceId)               \
  X(cuptiActivityRegisterCallbacks) \
  X(cuptiActivityEnable)            \
  X(cuptiActivityDisable)           \
  X(cuptiActivityFlushAll)          \
  X(cuptiActivityGetNextRecord)     \
  X(cuptiActivityGetNumDroppedRecords)

// Needed for counters: absent before CUPTI 12.6, then only `time` runs.
#define GABLE_CUPTI_PROFILING(X)                  \
  X(cuptiDeviceGetChipName)                       \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerDeviceSupported)                 \
  X(cuptiProfilerHostGetSupportedChips)           \
  X(cuptiProfilerHostInitialize)                  \
  X(cuptiProfilerHostDeinitialize)                \
  X(cuptiProfilerHostConfigAddMetrics)            \
  X(cuptiProfilerHostGetConfigImageSize)          \
  X(cuptiProfilerHostGetConfigImage)              \
  X(cuptiProfilerHostGetNumOfPasses)              \
  X(cuptiProfilerHostEvaluateToGpuValues)         \
  X(cuptiRangeProfilerEnable)                     \
  X(cuptiRangeProfilerDisable)                    \
  X(cuptiRangeProfilerSetConfig)                  \
  X(cuptiRangeProfilerStart)                      \
  X(cuptiRangeProfilerStop)                       \
  X(cuptiRangeProfilerPushRange)                  \
  X(cuptiRangeProfilerPopRange)                   \
  X(cuptiRangeProfilerDecodeData)                 \
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerGetCounterDataInfo)         \
  X(cuptiRangeProfilerCounterDataGetRangeInfo)

// Used where the library has them; without those about graphs, launches of graphs are counted and
// not attributed.
#define GABLE_CUPTI_GRAPHS(X) \
  X(cuptiGetGraphNodeId)      \
  X(cuptiGetGraphId)          \
  X(cuptiGetGraphExecId)
#if CUPTI_API_VERSION >= 130000
#define GABLE_CUPTI_OPTIONAL(X) \
  GABLE_CUPTI_GRAPHS(X)         \
  X(cuptiSubscribe_v2) /* names the holder when refused */
#else
#define GABLE_CUPTI_OPTIONAL(X) GABLE_CUPTI_GRAPHS(X)
#endif

struct CuptiApi {
#define GABLE_DECLARE(name) decltype(&::name) name = nullptr;
  GABLE_CUPTI_TRACING(GABLE_DECLARE)
  GABLE_CUPTI_PROFILING(GABLE_DECLARE)
  GABLE_CUPTI_OPTIONAL(GABLE_DECLARE)
#undef GABLE_DECLARE

  std::uint32_t version = 0;  // cuptiGetVersion
  std::string path;           // where the library was found
  bool of_program = false;    // the program had loaded it already
  bool can_trace = false, can_profile = false;
  std::string why_not;  // one sentence, when can_trace or can_profile is false
  // For calls that may hang; null in tools, which may hang with them.
  std::shared_ptr<Helpers> helpers;
};

struct CuptiWish {
  std::string preferred;             // --cupti; may be empty
  std::vector<std::string> refused;  // unusable files, as named by CuptiApi::path or `asking`
  // Called before a library is opened and before its first call; with "" if it did not open.
  std::function<void(const std::string& path)> asking;
  std::shared_ptr<Helpers> helpers = nullptr;  // helpers for the filled table
};

// Loads the CUPTI already in the process, of any major version. Without a usable one there, loads
// the preferred one and no other, or, if none is preferred, one from the usual names and places:
// the driver's major version before newer ones, which the driver refuses. Of several, chooses one
// that takes counters. Never closes the library, whose threads and handlers may live on. Counters
// also need libnvperf_host and libnvperf_target beside it.
[[nodiscard]] CuptiApi load_cupti(const CuptiWish& wish);
[[nodiscard]] CuptiApi load_cupti(const std::string& preferred = {});

// "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)"
[[nodiscard]] std::string describe(const CuptiApi& api, CUptiResult code);

}  // namespace gable

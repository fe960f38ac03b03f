// SPDX-License-Identifier: Apache-2.0
// CUPTI's parameter structures start with their size and are zero otherwise. Older CUPTIs take
// exactly one size of each and answer INVALID_PARAMETER to any other; newer ones also take the
// older sizes. So every structure goes out with the size that it has in CUDA 12.6, the first
// release with counters, whatever toolkit built Gable: the program may bring any CUPTI.
#pragma once

#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstddef>

namespace gable {

// The structure, its size in CUDA 12.6, and its last field there, with which that size ends.
#define GABLE_CUPTI_PARAMS(X)                                          \
  X(CUpti_Profiler_Initialize, 16, pPriv)                              \
  X(CUpti_Profiler_DeviceSupported, 52, api)                           \
  X(CUpti_Device_GetChipName, 32, pChipName)                           \
  X(CUpti_Profiler_Host_GetSupportedChips, 32, ppChipNames)            \
  X(CUpti_Profiler_Host_Initialize, 48, pHostObject)                   \
  X(CUpti_Profiler_Host_Deinitialize, 24, pHostObject)                 \
  X(CUpti_Profiler_Host_ConfigAddMetrics, 40, numMetrics)              \
  X(CUpti_Profiler_Host_GetConfigImageSize, 32, configImageSize)       \
  X(CUpti_Profiler_Host_GetConfigImage, 40, pConfigImage)              \
  X(CUpti_Profiler_Host_GetNumOfPasses, 40, numOfPasses)               \
  X(CUpti_Profiler_Host_EvaluateToGpuValues, 72, pMetricValues)        \
  X(CUpti_RangeProfiler_Enable, 32, pRangeProfilerObject)              \
  X(CUpti_RangeProfiler_Disable, 24, pRangeProfilerObject)             \
  X(CUpti_RangeProfiler_SetConfig, 90, targetNestingLevel)             \
  X(CUpti_RangeProfiler_Start, 24, pRangeProfilerObject)               \
  X(CUpti_RangeProfiler_Stop, 41, isAllPassSubmitted)                  \
  X(CUpti_RangeProfiler_PushRange, 32, pRangeName)                     \
  X(CUpti_RangeProfiler_PopRange, 24, pRangeProfilerObject)            \
  X(CUpti_RangeProfiler_DecodeData, 32, numOfRangeDropped)             \
  X(CUpti_RangeProfiler_GetCounterDataSize, 64, counterDataSize)       \
  X(CUpti_RangeProfiler_CounterDataImage_Initialize, 40, pCounterData) \
  X(CUpti_RangeProfiler_GetCounterDataInfo, 40, numTotalRanges)        \
  X(CUpti_RangeProfiler_CounterData_GetRangeInfo, 56, rangeName)

// Structures not listed here have no size, so they cannot be passed.
template <typename Params>
struct ParamsSize;

// NOLINTBEGIN(bugprone-sizeof-expression): members that are pointers have a pointer's size.
#define GABLE_PARAMS_SIZE(type, size, last)                                          \
  template <>                                                                        \
  struct ParamsSize<type##_Params> {                                                 \
    static constexpr std::size_t value = size;                                       \
  };                                                                                 \
  static_assert(offsetof(type##_Params, last) + sizeof(type##_Params::last) == size, \
                #type "_Params is not laid out as in CUDA 12.6");
GABLE_CUPTI_PARAMS(GABLE_PARAMS_SIZE)
#undef GABLE_PARAMS_SIZE
// NOLINTEND(bugprone-sizeof-expression)
#if CUPTI_API_VERSION >= 130000
template <>
struct ParamsSize<CUpti_SubscriberParams> {  // as in CUDA 13.0, the first that has it
  static constexpr std::size_t value = 32;
};
static_assert(offsetof(CUpti_SubscriberParams, oldSubscriberSize) + sizeof(std::size_t) == 32,
              "CUpti_SubscriberParams is not laid out as in CUDA 13.0");
#endif

#define GABLE_PARAMS(type, name) \
  type##_Params name{};          \
  name.structSize = ::gable::ParamsSize<type##_Params>::value

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Every field of every parameter structure stands where it stood in CUDA 12.6, whose sizes are
// passed. A toolkit of which that is not so does not build Gable.
#include "collector/cupti/cupti_params.h"

namespace gable {
namespace {

#define GABLE_AT(type, field, offset)                     \
  static_assert(offsetof(type##_Params, field) == offset, \
                #type "_Params::" #field " is not where CUDA 12.6 has it")

GABLE_AT(CUpti_Profiler_Initialize, pPriv, 8);
GABLE_AT(CUpti_Profiler_DeviceSupported, pPriv, 8);
GABLE_AT(CUpti_Profiler_DeviceSupported, cuDevice, 16);
GABLE_AT(CUpti_Profiler_DeviceSupported, isSupported, 20);
GABLE_AT(CUpti_Profiler_DeviceSupported, architecture, 24);
GABLE_AT(CUpti_Profiler_DeviceSupported, sli, 28);
GABLE_AT(CUpti_Profiler_DeviceSupported, vGpu, 32);
GABLE_AT(CUpti_Profiler_DeviceSupported, confidentialCompute, 36);
GABLE_AT(CUpti_Profiler_DeviceSupported, cmp, 40);
GABLE_AT(CUpti_Profiler_DeviceSupported, wsl, 44);
GABLE_AT(CUpti_Profiler_DeviceSupported, api, 48);
GABLE_AT(CUpti_Device_GetChipName, pPriv, 8);
GABLE_AT(CUpti_Device_GetChipName, deviceIndex, 16);
GABLE_AT(CUpti_Device_GetChipName, pChipName, 24);
GABLE_AT(CUpti_Profiler_Host_GetSupportedChips, pPriv, 8);
GABLE_AT(CUpti_Profiler_Host_GetSupportedChips, numChips, 16);
GABLE_AT(CUpti_Profiler_Host_GetSupportedChips, ppChipNames, 24);
GABLE_AT(CUpti_Profiler_Host_Initialize, pPriv, 8);
GABLE_AT(CUpti_Profiler_Host_Initialize, profilerType, 16);
GABLE_AT(CUpti_Profiler_Host_Initialize, pChipName, 24);
GABLE_AT(CUpti_Profiler_Host_Initialize, pCounterAvailabilityImage, 32);
GABLE_AT(CUpti_Profiler_Host_Initialize, pHostObject, 40);
GABLE_AT(CUpti_Profiler_Host_Deinitialize, pPriv, 8);
GABLE_AT(CUpti_Profiler_Host_Deinitialize, pHostObject, 16);
GABLE_AT(CUpti_Profiler_Host_ConfigAddMetrics, pPriv, 8);
GABLE_AT(CUpti_Profiler_Host_ConfigAddMetrics, pHostObject, 16);
GABLE_AT(CUpti_Profiler_Host_ConfigAddMetrics, ppMetricNames, 24);
GABLE_AT(CUpti_Profiler_Host_ConfigAddMetrics, numMetrics, 32);
GABLE_AT(CUpti_Profiler_Host_GetConfigImageSize, pPriv, 8);
GABLE_AT(CUpti_Profiler_Host_GetConfigImageSize, pHostObject, 16);
GABLE_AT(CUpti_Profiler_Host_GetConfigImageSize, configImageSize, 24);
GABLE_AT(CUpti_Profiler_Host_GetConfigImage, pPriv, 8);
GABLE_AT(CUpti_Profiler_Host_GetConfigImage, pHostObject, 16);
GABLE_AT(CUpti_Profiler_Host_GetConfigImage, configImageSize, 24);
GABLE_AT(CUpti_Profiler_Host_GetConfigImage, pConfigImage, 32);
GABLE_AT(CUpti_Profiler_Host_GetNumOfPasses, pPriv, 8);
GABLE_AT(CUpti_Profiler_Host_GetNumOfPasses, configImageSize, 16);
GABLE_AT(CUpti_Profiler_Host_GetNumOfPasses, pConfigImage, 24);
GABLE_AT(CUpti_Profiler_Host_GetNumOfPasses, numOfPasses, 32);
GABLE_AT(CUpti_Profiler_Host_EvaluateToGpuValues, pPriv, 8);
GABLE_AT(CUpti_Profiler_Host_EvaluateToGpuValues, pHostObject, 16);
GABLE_AT(CUpti_Profiler_Host_EvaluateToGpuValues, pCounterDataImage, 24);
GABLE_AT(CUpti_Profiler_Host_EvaluateToGpuValues, counterDataImageSize, 32);
GABLE_AT(CUpti_Profiler_Host_EvaluateToGpuValues, rangeIndex, 40);
GABLE_AT(CUpti_Profiler_Host_EvaluateToGpuValues, ppMetricNames, 48);
GABLE_AT(CUpti_Profiler_Host_EvaluateToGpuValues, numMetrics, 56);
GABLE_AT(CUpti_Profiler_Host_EvaluateToGpuValues, pMetricValues, 64);
GABLE_AT(CUpti_RangeProfiler_Enable, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_Enable, ctx, 16);
GABLE_AT(CUpti_RangeProfiler_Enable, pRangeProfilerObject, 24);
GABLE_AT(CUpti_RangeProfiler_Disable, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_Disable, pRangeProfilerObject, 16);
GABLE_AT(CUpti_RangeProfiler_SetConfig, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_SetConfig, pRangeProfilerObject, 16);
GABLE_AT(CUpti_RangeProfiler_SetConfig, configSize, 24);
GABLE_AT(CUpti_RangeProfiler_SetConfig, pConfig, 32);
GABLE_AT(CUpti_RangeProfiler_SetConfig, counterDataImageSize, 40);
GABLE_AT(CUpti_RangeProfiler_SetConfig, pCounterDataImage, 48);
GABLE_AT(CUpti_RangeProfiler_SetConfig, range, 56);
GABLE_AT(CUpti_RangeProfiler_SetConfig, replayMode, 60);
GABLE_AT(CUpti_RangeProfiler_SetConfig, maxRangesPerPass, 64);
GABLE_AT(CUpti_RangeProfiler_SetConfig, numNestingLevels, 72);
GABLE_AT(CUpti_RangeProfiler_SetConfig, minNestingLevel, 74);
GABLE_AT(CUpti_RangeProfiler_SetConfig, passIndex, 80);
GABLE_AT(CUpti_RangeProfiler_SetConfig, targetNestingLevel, 88);
GABLE_AT(CUpti_RangeProfiler_Start, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_Start, pRangeProfilerObject, 16);
GABLE_AT(CUpti_RangeProfiler_Stop, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_Stop, pRangeProfilerObject, 16);
GABLE_AT(CUpti_RangeProfiler_Stop, passIndex, 24);
GABLE_AT(CUpti_RangeProfiler_Stop, targetNestingLevel, 32);
GABLE_AT(CUpti_RangeProfiler_Stop, isAllPassSubmitted, 40);
GABLE_AT(CUpti_RangeProfiler_PushRange, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_PushRange, pRangeProfilerObject, 16);
GABLE_AT(CUpti_RangeProfiler_PushRange, pRangeName, 24);
GABLE_AT(CUpti_RangeProfiler_PopRange, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_PopRange, pRangeProfilerObject, 16);
GABLE_AT(CUpti_RangeProfiler_DecodeData, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_DecodeData, pRangeProfilerObject, 16);
GABLE_AT(CUpti_RangeProfiler_DecodeData, numOfRangeDropped, 24);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataSize, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataSize, pRangeProfilerObject, 16);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataSize, pMetricNames, 24);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataSize, numMetrics, 32);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataSize, maxNumOfRanges, 40);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataSize, maxNumRangeTreeNodes, 48);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataSize, counterDataSize, 56);
GABLE_AT(CUpti_RangeProfiler_CounterDataImage_Initialize, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_CounterDataImage_Initialize, pRangeProfilerObject, 16);
GABLE_AT(CUpti_RangeProfiler_CounterDataImage_Initialize, counterDataSize, 24);
GABLE_AT(CUpti_RangeProfiler_CounterDataImage_Initialize, pCounterData, 32);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataInfo, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataInfo, pCounterDataImage, 16);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataInfo, counterDataImageSize, 24);
GABLE_AT(CUpti_RangeProfiler_GetCounterDataInfo, numTotalRanges, 32);
GABLE_AT(CUpti_RangeProfiler_CounterData_GetRangeInfo, pPriv, 8);
GABLE_AT(CUpti_RangeProfiler_CounterData_GetRangeInfo, pCounterDataImage, 16);
GABLE_AT(CUpti_RangeProfiler_CounterData_GetRangeInfo, counterDataImageSize, 24);
GABLE_AT(CUpti_RangeProfiler_CounterData_GetRangeInfo, rangeIndex, 32);
GABLE_AT(CUpti_RangeProfiler_CounterData_GetRangeInfo, rangeDelimiter, 40);
GABLE_AT(CUpti_RangeProfiler_CounterData_GetRangeInfo, rangeName, 48);

}  // namespace
}  // namespace gable

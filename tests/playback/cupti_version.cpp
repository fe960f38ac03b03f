// SPDX-License-Identifier: Apache-2.0
// The version apart: the same sources also make a CUPTI that is too old for counters.
#include <cupti.h>

#include "tests/playback/cupti_state.h"

#ifndef GABLE_PLAYBACK_API_VERSION
#define GABLE_PLAYBACK_API_VERSION CUPTI_API_VERSION
#endif

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  GABLE_ENTER();
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = GABLE_PLAYBACK_API_VERSION;
  return CUPTI_SUCCESS;
}

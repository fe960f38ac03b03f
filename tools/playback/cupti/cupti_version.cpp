// SPDX-License-Identifier: Apache-2.0
// The version apart: the same sources also make a CUPTI that is too old for counters.
#include <cupti.h>

#include "tools/playback/cupti/cupti_state.h"
#include "tools/playback/cupti/played_release.h"

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t* version) {
  GABLE_ENTER();
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
#ifdef GABLE_PLAYBACK_API_VERSION
  *version = GABLE_PLAYBACK_API_VERSION;
#else
  *version = gable::playback::played_version();
#endif
  return CUPTI_SUCCESS;
}

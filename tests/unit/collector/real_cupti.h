// SPDX-License-Identifier: Apache-2.0
// The toolkit's own libcupti, whose host API answers without a GPU; tests that need it skip with a
// notice elsewhere.
#pragma once

#include <gtest/gtest.h>

#include "collector/cupti/cupti_api.h"

namespace gable {

inline const CuptiApi& real_cupti() {
#ifdef GABLE_CUPTI_LIBRARY
  static const CuptiApi api = load_cupti(GABLE_CUPTI_LIBRARY);
#else
  static const CuptiApi api;
#endif
  return api;
}

#define SKIP_WITHOUT_REAL_CUPTI() \
  if (!real_cupti().can_profile)  \
  GTEST_SKIP() << "no libcupti with libnvperf beside it: " << real_cupti().why_not

}  // namespace gable

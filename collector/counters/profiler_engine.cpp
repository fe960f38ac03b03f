// SPDX-License-Identifier: Apache-2.0
#include "collector/counters/range_profiler.h"

#include "collector/cupti/cupti_params.h"
#include "collector/cupti/helpers.h"
#include "collector/cupti/nvperf.h"

namespace gable {

ProfilerEngine::ProfilerEngine(const CuptiApi& api)
    : api_(api),
      patience_(api.helpers != nullptr ? api.helpers->patience : std::make_shared<Patience>()) {}

CuptiFailure ProfilerEngine::start() {
  const MutexLock hold(mutex_);
  if (asked_) return answer_;
  asked_ = true;
  if (!api_.can_profile) {
    answer_.code = CUPTI_ERROR_NOT_INITIALIZED;
    answer_.sentence = api_.why_not.empty() ? "This CUPTI cannot take counters." : api_.why_not;
    return answer_;
  }
  open_nvperf(api_.path);
  GABLE_PARAMS(CUpti_Profiler_Initialize, params);
  if (const auto code = GABLE_CALL(api_, cuptiProfilerInitialize, &params); code != CUPTI_SUCCESS)
    answer_ = call_failed(api_, "cuptiProfilerInitialize", code);
  return answer_;
}

bool ProfilerEngine::started() const {
  const MutexLock hold(mutex_);
  return asked_ && !answer_.failed();
}

}  // namespace gable

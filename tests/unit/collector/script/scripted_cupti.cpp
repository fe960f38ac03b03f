// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/collector/script/scripted_cupti.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace gable {
namespace {

ScriptedCupti* script = nullptr;
constexpr std::size_t kImageBytesPerRange = 64;

std::uint64_t sum_of(const std::uint8_t* data, std::size_t size) {
  return std::accumulate(data, data + size, std::uint64_t{0});
}

}  // namespace

struct ScriptedCalls {
  using S = ScriptedCupti;

  static CUptiResult CUPTIAPI result_string(CUptiResult code, const char** text) {
    *text = code == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
            : code == CUPTI_ERROR_HARDWARE_BUSY         ? "CUPTI_ERROR_HARDWARE_BUSY"
                                                        : "CUPTI_ERROR_UNKNOWN";
    return CUPTI_SUCCESS;
  }

// Enters the call under the script's lock; a scripted failure answers at once.
#define ENTER(name)                                 \
  S& s = *script;                                   \
  const std::lock_guard<std::mutex> hold(s.mutex_); \
  if (const auto code = s.enter(#name); code != CUPTI_SUCCESS) return code

  static CUptiResult CUPTIAPI initialize(CUpti_Profiler_Initialize_Params*) {
    ENTER(cuptiProfilerInitialize);
    if (s.engine_) s.broken("the engine was initialised twice");
    s.engine_ = true;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI host_initialize(CUpti_Profiler_Host_Initialize_Params* p) {
    ENTER(cuptiProfilerHostInitialize);
    p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new char);
    ++s.live_hosts_;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI host_deinitialize(CUpti_Profiler_Host_Deinitialize_Params* p) {
    ENTER(cuptiProfilerHostDeinitialize);
    delete reinterpret_cast<char*>(p->pHostObject);
    --s.live_hosts_;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI add_metrics(CUpti_Profiler_Host_ConfigAddMetrics_Params*) {
    ENTER(cuptiProfilerHostConfigAddMetrics);
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI enable(CUpti_RangeProfiler_Enable_Params* p) {
    ENTER(cuptiRangeProfilerEnable);
    if (!s.engine_) s.broken("enabled before the engine was initialised");
    if (p->ctx == nullptr) s.broken("enabled without a context");
    p->pRangeProfilerObject =
        reinterpret_cast<CUpti_RangeProfiler_Object*>(&s.profilers_.emplace_back());
    ++s.live_profilers_;
    s.configured_ = s.started_ = s.range_open_ = false;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI disable(CUpti_RangeProfiler_Disable_Params*) {
    ENTER(cuptiRangeProfilerDisable);
    // CUPTI may still read and write these: freed ones show here under AddressSanitizer.
    if (s.configured_) {
      if (sum_of(s.config_, s.config_size_) != s.config_sum_) s.broken("the config image changed");
      std::memset(s.image_, 0, s.image_size_);
    }
    for (std::size_t i = 0; i < s.pushed_.size(); ++i)
      if (s.pushed_text_[i] != s.pushed_[i]) s.broken("a range name did not stay alive");
    s.pushed_.clear();
    s.pushed_text_.clear();
    --s.live_profilers_;
    s.configured_ = false;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI data_size(CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
    ENTER(cuptiRangeProfilerGetCounterDataSize);
    if (p->maxNumRangeTreeNodes < p->maxNumOfRanges) s.broken("fewer tree nodes than ranges");
    p->counterDataSize = kImageBytesPerRange * p->maxNumOfRanges;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI
  init_image(CUpti_RangeProfiler_CounterDataImage_Initialize_Params* p) {
    ENTER(cuptiRangeProfilerCounterDataImageInitialize);
    std::memset(p->pCounterData, 0, p->counterDataSize);
    s.initialised_.insert(p->pCounterData);
    s.in_image_.clear();
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI set_config(CUpti_RangeProfiler_SetConfig_Params* p) {
    ENTER(cuptiRangeProfilerSetConfig);
    if (s.configured_ && s.second_config_refused) return CUPTI_ERROR_INVALID_OPERATION;
    if (p->targetNestingLevel != s.accepted_target) return CUPTI_ERROR_INVALID_PARAMETER;
    if (s.initialised_.count(p->pCounterDataImage) == 0) s.broken("the image was not reset");
    if (p->numNestingLevels != 1 || p->minNestingLevel != 1 || p->passIndex != 0)
      s.broken("nesting levels or pass index are wrong");
    if (p->replayMode != CUPTI_UserReplay) s.broken("a replay mode that replays");
    s.automatic_ = p->range == CUPTI_AutoRange;
    s.max_ranges_ = p->maxRangesPerPass;
    s.config_ = p->pConfig;
    s.config_size_ = p->configSize;
    s.config_sum_ = sum_of(p->pConfig, p->configSize);
    s.image_ = p->pCounterDataImage;
    s.image_size_ = p->counterDataImageSize;
    s.configured_ = true;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI start(CUpti_RangeProfiler_Start_Params*) {
    ENTER(cuptiRangeProfilerStart);
    if (!s.configured_) s.broken("started without a configuration");
    if (s.started_) s.broken("started twice");
    s.started_ = true;
    s.ranges_.clear();
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI stop(CUpti_RangeProfiler_Stop_Params* p) {
    ENTER(cuptiRangeProfilerStop);
    if (!s.started_) s.broken("stopped without a start");
    s.started_ = false;
    s.initialised_.erase(s.image_);
    p->isAllPassSubmitted = s.all_passes;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI push(CUpti_RangeProfiler_PushRange_Params* p) {
    ENTER(cuptiRangeProfilerPushRange);
    if (!s.started_) s.broken("pushed outside a session");
    if (s.range_open_) s.broken("a range within a range");
    s.range_open_ = true;
    s.pushed_.push_back(p->pRangeName);
    s.pushed_text_.emplace_back(p->pRangeName);
    s.ranges_.push_back({p->pRangeName, 0});
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI pop(CUpti_RangeProfiler_PopRange_Params*) {
    ENTER(cuptiRangeProfilerPopRange);
    if (!s.range_open_) s.broken("popped without a push");
    s.range_open_ = false;
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI decode(CUpti_RangeProfiler_DecodeData_Params* p) {
    ENTER(cuptiRangeProfilerDecodeData);
    if (s.started_) s.broken("decoded before stop");
    s.in_image_.resize(s.ranges_.size());
    std::iota(s.in_image_.begin(), s.in_image_.end(), std::size_t{0});
    const auto fits = std::min(s.in_image_.size(), s.max_ranges_);
    p->numOfRangeDropped = s.in_image_.size() - fits + std::min(s.drop_ranges, fits);
    s.in_image_.resize(fits - std::min(fits, s.drop_ranges + s.lose_ranges));
    s.drop_ranges = s.lose_ranges = 0;
    if (s.reversed) std::reverse(s.in_image_.begin(), s.in_image_.end());
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI data_info(CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
    ENTER(cuptiRangeProfilerGetCounterDataInfo);
    p->numTotalRanges = s.in_image_.size();
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI range_info(CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* p) {
    ENTER(cuptiRangeProfilerCounterDataGetRangeInfo);
    const auto place = s.in_image_[p->rangeIndex];
    p->rangeName = strdup(s.ranges_[place].name.c_str());  // leaks when the caller does not free it
    return CUPTI_SUCCESS;
  }
  static CUptiResult CUPTIAPI evaluate(CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
    ENTER(cuptiProfilerHostEvaluateToGpuValues);
    const auto place = s.in_image_[p->rangeIndex];
    for (std::size_t i = 0; i < p->numMetrics; ++i)
      p->pMetricValues[i] = s.value ? s.value(p->ppMetricNames[i], place) : 1.0;
    return CUPTI_SUCCESS;
  }
#undef ENTER
};

ScriptedCupti::ScriptedCupti() {
  script = this;
  using C = ScriptedCalls;
  api_.cuptiGetResultString = C::result_string;
  api_.cuptiProfilerInitialize = C::initialize;
  api_.cuptiProfilerHostInitialize = C::host_initialize;
  api_.cuptiProfilerHostDeinitialize = C::host_deinitialize;
  api_.cuptiProfilerHostConfigAddMetrics = C::add_metrics;
  api_.cuptiRangeProfilerEnable = C::enable;
  api_.cuptiRangeProfilerDisable = C::disable;
  api_.cuptiRangeProfilerGetCounterDataSize = C::data_size;
  api_.cuptiRangeProfilerCounterDataImageInitialize = C::init_image;
  api_.cuptiRangeProfilerSetConfig = C::set_config;
  api_.cuptiRangeProfilerStart = C::start;
  api_.cuptiRangeProfilerStop = C::stop;
  api_.cuptiRangeProfilerPushRange = C::push;
  api_.cuptiRangeProfilerPopRange = C::pop;
  api_.cuptiRangeProfilerDecodeData = C::decode;
  api_.cuptiRangeProfilerGetCounterDataInfo = C::data_info;
  api_.cuptiRangeProfilerCounterDataGetRangeInfo = C::range_info;
  api_.cuptiProfilerHostEvaluateToGpuValues = C::evaluate;
  api_.can_trace = api_.can_profile = true;
}

ScriptedCupti::~ScriptedCupti() { script = nullptr; }

CUptiResult ScriptedCupti::enter(const char* call) {
  calls_.emplace_back(call);
  const auto found = failing_.find(call);
  if (found == failing_.end() || found->second.after-- > 0) return CUPTI_SUCCESS;
  return found->second.code;
}

void ScriptedCupti::fail(const std::string& call, CUptiResult code, int after) {
  failing_[call] = {code, after};
}

CUptiResult ScriptedCupti::ask(const std::string& call) {
  const std::lock_guard<std::mutex> hold(mutex_);
  return enter(call.c_str());
}

void ScriptedCupti::kernel() {
  const std::lock_guard<std::mutex> hold(mutex_);
  if (!started_) return;
  if (automatic_)
    ranges_.push_back({std::to_string(ranges_.size()), 1});
  else if (range_open_)
    ++ranges_.back().kernels;
}

std::vector<std::string> ScriptedCupti::calls() const {
  const std::lock_guard<std::mutex> hold(mutex_);
  return calls_;
}

int ScriptedCupti::count(const std::string& call) const {
  const std::lock_guard<std::mutex> hold(mutex_);
  return static_cast<int>(std::count(calls_.begin(), calls_.end(), call));
}

std::vector<std::string> ScriptedCupti::broken_rules() const {
  const std::lock_guard<std::mutex> hold(mutex_);
  return broken_;
}

std::vector<std::uint64_t> ScriptedCupti::kernels_in_ranges() const {
  const std::lock_guard<std::mutex> hold(mutex_);
  std::vector<std::uint64_t> kernels;
  for (const auto& range : ranges_) kernels.push_back(range.kernels);
  return kernels;
}

}  // namespace gable

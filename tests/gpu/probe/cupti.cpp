// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/probe/cupti.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "collector/cupti/cupti_params.h"
#include "collector/metrics/chip_metrics.h"

namespace gable::probe {
namespace {

std::vector<std::string>& failed_calls() {
  static auto* calls = new std::vector<std::string>;
  return *calls;
}

const PassPlan& pass_of(PhaseKind kind, const char* what) {
  for (const PassPlan& pass : plan().passes) {
    if (pass.phase.kind == kind) return pass;
  }
  throw Skipped(std::string("CUPTI has no ") + what + " for the chip " + chip() + ".");
}

}  // namespace

bool told(const char* call, CUptiResult code) {
  if (code == CUPTI_SUCCESS) return true;
  static std::mutex mutex;
  const std::lock_guard<std::mutex> hold(mutex);
  failed_calls().push_back(std::string(call) + ": " + describe(cupti(), code));
  return false;
}

const std::vector<std::string>& failures() { return failed_calls(); }

const CuptiApi& cupti() {
  static const auto* api = [] {
    const char* asked = std::getenv("GABLE_PROVE_CUPTI");
    return new CuptiApi(load_cupti(asked == nullptr ? "" : asked));
  }();
  if (!api->can_profile) throw Skipped(api->why_not);
  return *api;
}

// CUPTI 13.0 crashes when it is asked for a chip before it was started.
std::string chip() {
  static const bool started = start_engine();
  if (!started) throw Skipped("cuptiProfilerInitialize fails, so the chip is not asked for.");
  GABLE_PARAMS(CUpti_Device_GetChipName, params);
  const auto code = cupti().cuptiDeviceGetChipName(&params);
  if (code != CUPTI_SUCCESS)
    throw Skipped("cuptiDeviceGetChipName answers " + describe(cupti(), code) + ".");
  return params.pChipName;
}

const MetricPlan& plan() {
  static const auto* made = new MetricPlan(plan_metrics(cupti(), chip()));
  if (!made->error.empty()) throw Skipped(made->error);
  return *made;
}

const PassPlan& hw_pass() { return pass_of(PhaseKind::hw, "hardware pass"); }
const PassPlan& flops_pass() { return pass_of(PhaseKind::flops, "instrumented pass"); }

const PassPlan& two_passes() {
  static const auto* made = [] {
    auto* both = new PassPlan;
    both->metrics = hw_pass().metrics;
    both->metrics.push_back(flops_pass().metrics.front());
    ChipMetrics metrics(cupti(), chip());
    const auto passes = metrics.configure(both->metrics, both->config_image);
    if (!passes || *passes < 2)
      throw Skipped("Hardware and instrumented metrics share a pass on this chip.");
    return both;
  }();
  return *made;
}

bool start_engine() {
  GABLE_PARAMS(CUpti_Profiler_Initialize, params);
  return told("cuptiProfilerInitialize", cupti().cuptiProfilerInitialize(&params));
}

Profiler::~Profiler() {
  if (object_ != nullptr) disable();
}

bool Profiler::enable() {
  GABLE_PARAMS(CUpti_RangeProfiler_Enable, params);
  params.ctx = context_;
  if (!told("cuptiRangeProfilerEnable", cupti().cuptiRangeProfilerEnable(&params))) return false;
  object_ = params.pRangeProfilerObject;
  configured_.reset();
  return true;
}

CUptiResult Profiler::set_config(const PassPlan& plan, CUpti_ProfilerRange range,
                                 CUpti_ProfilerReplayMode replay, std::size_t ranges) {
  GABLE_PARAMS(CUpti_RangeProfiler_SetConfig, params);
  params.pRangeProfilerObject = object_;
  params.configSize = plan.config_image.size();
  params.pConfig = plan.config_image.data();
  params.counterDataImageSize = image_->size();
  params.pCounterDataImage = image_->data();
  params.range = range;
  params.replayMode = replay;
  params.maxRangesPerPass = ranges;
  params.numNestingLevels = 1;
  params.minNestingLevel = 1;
  params.targetNestingLevel = static_cast<std::uint16_t>(target_level_);
  return cupti().cuptiRangeProfilerSetConfig(&params);
}

bool Profiler::configure(const PassPlan& plan, CUpti_ProfilerRange range,
                         CUpti_ProfilerReplayMode replay, std::size_t ranges) {
  if (configured_ && !same_object_ &&
      (configured_->plan != &plan || configured_->range != range ||
       configured_->ranges != ranges) &&
      !(disable() && enable()))
    return false;
  configured_ = {&plan, range, ranges};
  plan_ = &plan;
  host_ = hosts_.emplace_back(std::make_unique<HostObject>(cupti(), chip())).get();
  if (!told("cuptiProfilerHostInitialize", host_->open().code) ||
      !told("cuptiProfilerHostConfigAddMetrics", host_->add(plan.metrics).code))
    return false;
  std::vector<const char*> names;
  for (const std::string& metric : plan.metrics) names.push_back(metric.c_str());
  GABLE_PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = ranges;
  size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(ranges);
  if (!told("cuptiRangeProfilerGetCounterDataSize",
            cupti().cuptiRangeProfilerGetCounterDataSize(&size)))
    return false;
  image_ = &images_.emplace_back(size.counterDataSize);
  GABLE_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, empty);
  empty.pRangeProfilerObject = object_;
  empty.counterDataSize = image_->size();
  empty.pCounterData = image_->data();
  if (!told("cuptiRangeProfilerCounterDataImageInitialize",
            cupti().cuptiRangeProfilerCounterDataImageInitialize(&empty)))
    return false;
  auto code = set_config(plan, range, replay, ranges);
  if (code != CUPTI_SUCCESS && target_level_ == 0) {
    target_level_ = 1;  // the other reading of an undocumented field
    if (const auto second = set_config(plan, range, replay, ranges); second == CUPTI_SUCCESS) {
      code = second;
    } else {
      target_level_ = 0;
    }
  }
  return told("cuptiRangeProfilerSetConfig", code);
}

bool Profiler::start() {
  GABLE_PARAMS(CUpti_RangeProfiler_Start, params);
  params.pRangeProfilerObject = object_;
  return told("cuptiRangeProfilerStart", cupti().cuptiRangeProfilerStart(&params));
}

bool Profiler::push(const char* name) {
  GABLE_PARAMS(CUpti_RangeProfiler_PushRange, params);
  params.pRangeProfilerObject = object_;
  {
    const std::lock_guard<std::mutex> hold(names_mutex_);
    params.pRangeName = names_.emplace_back(name).c_str();
  }
  return told("cuptiRangeProfilerPushRange", cupti().cuptiRangeProfilerPushRange(&params));
}

bool Profiler::pop() {
  GABLE_PARAMS(CUpti_RangeProfiler_PopRange, params);
  params.pRangeProfilerObject = object_;
  return told("cuptiRangeProfilerPopRange", cupti().cuptiRangeProfilerPopRange(&params));
}

bool Profiler::stop() {
  GABLE_PARAMS(CUpti_RangeProfiler_Stop, params);
  params.pRangeProfilerObject = object_;
  if (!told("cuptiRangeProfilerStop", cupti().cuptiRangeProfilerStop(&params))) return false;
  all_passes_ = params.isAllPassSubmitted != 0;
  return true;
}

bool Profiler::decode() {
  GABLE_PARAMS(CUpti_RangeProfiler_DecodeData, params);
  params.pRangeProfilerObject = object_;
  if (!told("cuptiRangeProfilerDecodeData", cupti().cuptiRangeProfilerDecodeData(&params)))
    return false;
  dropped_ = params.numOfRangeDropped;
  return true;
}

bool Profiler::disable() {
  GABLE_PARAMS(CUpti_RangeProfiler_Disable, params);
  params.pRangeProfilerObject = std::exchange(object_, nullptr);
  return told("cuptiRangeProfilerDisable", cupti().cuptiRangeProfilerDisable(&params));
}

std::vector<Profiler::Range> Profiler::read(std::size_t most) {
  GABLE_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
  info.pCounterDataImage = image_->data();
  info.counterDataImageSize = image_->size();
  if (!told("cuptiRangeProfilerGetCounterDataInfo",
            cupti().cuptiRangeProfilerGetCounterDataInfo(&info)))
    return {};
  std::vector<const char*> names;
  for (const std::string& metric : plan_->metrics) names.push_back(metric.c_str());
  count_ = info.numTotalRanges;
  std::vector<Range> ranges(std::min(count_, most));
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    GABLE_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo, range);
    range.pCounterDataImage = image_->data();
    range.counterDataImageSize = image_->size();
    range.rangeIndex = i;
    range.rangeDelimiter = "/";
    if (told("cuptiRangeProfilerCounterDataGetRangeInfo",
             cupti().cuptiRangeProfilerCounterDataGetRangeInfo(&range)) &&
        range.rangeName != nullptr) {
      ranges[i].name = range.rangeName;
      std::free(const_cast<char*>(range.rangeName));  // CUPTI allocates it, the caller frees it
    }
    ranges[i].values.assign(names.size(), 0);
    GABLE_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, values);
    values.pHostObject = host_->get();
    values.pCounterDataImage = image_->data();
    values.counterDataImageSize = image_->size();
    values.rangeIndex = i;
    values.ppMetricNames = names.data();
    values.numMetrics = names.size();
    values.pMetricValues = ranges[i].values.data();
    (void)told("cuptiProfilerHostEvaluateToGpuValues",
               cupti().cuptiProfilerHostEvaluateToGpuValues(&values));
  }
  return ranges;
}

std::vector<double> Profiler::values(const std::vector<Range>& ranges,
                                     const std::string& metric) const {
  if (plan_ == nullptr)
    return std::vector<double>(ranges.size(), std::numeric_limits<double>::quiet_NaN());
  const auto found = std::find(plan_->metrics.begin(), plan_->metrics.end(), metric);
  std::vector<double> values;
  values.reserve(ranges.size());
  for (const Range& range : ranges) {
    values.push_back(found == plan_->metrics.end()
                         ? std::numeric_limits<double>::quiet_NaN()
                         : range.values[static_cast<std::size_t>(found - plan_->metrics.begin())]);
  }
  return values;
}

double us_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace gable::probe

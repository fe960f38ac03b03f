// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/probe/sampler.h"

#include <cupti_profiler_host.h>
#include <dlfcn.h>

#include <algorithm>
#include <cmath>

#include "collector/cupti/cupti_params.h"
#include "tests/gpu/probe/experiments.h"

namespace gable::probe {
namespace {

constexpr std::uint32_t kMaxSamples = 20000;

// Not in the product's table of calls.
template <class Function>
Function* sampling_call(const char* name) {
  static void* const library = dlopen(cupti().path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  auto* found = library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr)
    throw Skipped(rehearsed() ? "The playback GPU has no PM sampling."
                              : std::string("This CUPTI has no ") + name + ".");
  return found;
}

#define GABLE_SAMPLING(function, ...) \
  told(#function, sampling_call<decltype(function)>(#function)(__VA_ARGS__))
// Gable itself takes no samples, so that it knows no size of these from CUDA 12.6.
#define GABLE_SAMPLING_PARAMS(type, name) \
  type##_Params name{};                   \
  name.structSize = type##_Params_STRUCT_SIZE

}  // namespace

Sampler::Sampler() {
  (void)sampling_call<decltype(cuptiPmSamplingEnable)>("cuptiPmSamplingEnable");
}

Sampler::~Sampler() {
  if (object_ != nullptr) disable();
}

bool Sampler::make_host() {
  const std::string name = chip();
  GABLE_PARAMS(CUpti_Profiler_Host_Initialize, begin);
  begin.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  begin.pChipName = name.c_str();
  if (!available_.empty()) begin.pCounterAvailabilityImage = available_.data();
  if (!told("cuptiProfilerHostInitialize", cupti().cuptiProfilerHostInitialize(&begin)))
    return false;
  host_ = begin.pHostObject;
  return true;
}

// With the configuration's image, if one pass is enough.
bool Sampler::configure() {
  names_.clear();
  for (const std::string& metric : metrics_) names_.push_back(metric.c_str());
  if (!make_host()) return false;
  GABLE_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add);
  add.pHostObject = host_;
  add.ppMetricNames = names_.data();
  add.numMetrics = names_.size();
  GABLE_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
  size.pHostObject = host_;
  if (!told("cuptiProfilerHostConfigAddMetrics", cupti().cuptiProfilerHostConfigAddMetrics(&add)) ||
      !told("cuptiProfilerHostGetConfigImageSize",
            cupti().cuptiProfilerHostGetConfigImageSize(&size)))
    return false;
  config_.assign(size.configImageSize, 0);
  GABLE_PARAMS(CUpti_Profiler_Host_GetConfigImage, get);
  get.pHostObject = host_;
  get.configImageSize = config_.size();
  get.pConfigImage = config_.data();
  GABLE_PARAMS(CUpti_Profiler_Host_GetNumOfPasses, passes);
  passes.configImageSize = config_.size();
  passes.pConfigImage = config_.data();
  return told("cuptiProfilerHostGetConfigImage", cupti().cuptiProfilerHostGetConfigImage(&get)) &&
         told("cuptiProfilerHostGetNumOfPasses",
              cupti().cuptiProfilerHostGetNumOfPasses(&passes)) &&
         passes.numOfPasses == 1;
}

bool Sampler::enable(std::vector<std::string> metrics) {
  metrics_ = std::move(metrics);
  GABLE_SAMPLING_PARAMS(CUpti_PmSampling_GetCounterAvailability, params);
  if (GABLE_SAMPLING(cuptiPmSamplingGetCounterAvailability, &params)) {
    available_.assign(params.counterAvailabilityImageSize, 0);
    params.pCounterAvailabilityImage = available_.data();
    if (!GABLE_SAMPLING(cuptiPmSamplingGetCounterAvailability, &params)) available_.clear();
  }
  while (!metrics_.empty() && !configure()) metrics_.pop_back();
  if (metrics_.empty()) return false;
  GABLE_SAMPLING_PARAMS(CUpti_PmSampling_Enable, enable);
  if (!GABLE_SAMPLING(cuptiPmSamplingEnable, &enable)) return false;
  object_ = enable.pPmSamplingObject;
  return true;
}

bool Sampler::empty_image() {
  if (!pristine_.empty()) {
    image_ = pristine_;
    return true;
  }
  GABLE_SAMPLING_PARAMS(CUpti_PmSampling_GetCounterDataSize, size);
  size.pPmSamplingObject = object_;
  size.pMetricNames = names_.data();
  size.numMetrics = names_.size();
  size.maxSamples = kMaxSamples;
  if (!GABLE_SAMPLING(cuptiPmSamplingGetCounterDataSize, &size)) return false;
  image_.assign(size.counterDataSize, 0);
  GABLE_SAMPLING_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize, empty);
  empty.pPmSamplingObject = object_;
  empty.counterDataSize = image_.size();
  empty.pCounterData = image_.data();
  if (!GABLE_SAMPLING(cuptiPmSamplingCounterDataImageInitialize, &empty)) return false;
  pristine_ = image_;
  return true;
}

bool Sampler::start(const SamplerSettings& settings) {
  GABLE_SAMPLING_PARAMS(CUpti_PmSampling_SetConfig, set);
  set.pPmSamplingObject = object_;
  set.configSize = config_.size();
  set.pConfig = config_.data();
  set.hardwareBufferSize = settings.buffer_bytes;
  set.samplingInterval = settings.interval;
  set.triggerMode = settings.by_clock ? CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL
                                      : CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  set.hwBufferAppendMode = settings.keep_latest
                               ? CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST
                               : CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  GABLE_SAMPLING_PARAMS(CUpti_PmSampling_Start, start);
  start.pPmSamplingObject = object_;
  first_ = true;
  return GABLE_SAMPLING(cuptiPmSamplingSetConfig, &set) && empty_image() &&
         GABLE_SAMPLING(cuptiPmSamplingStart, &start);
}

bool Sampler::take(std::size_t index, Samples& samples) {
  GABLE_SAMPLING_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo, info);
  info.pPmSamplingObject = object_;
  info.pCounterDataImage = image_.data();
  info.counterDataImageSize = image_.size();
  info.sampleIndex = index;
  std::vector<double> values(names_.size(), std::nan(""));
  GABLE_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, evaluate);
  evaluate.pHostObject = host_;
  evaluate.pCounterDataImage = image_.data();
  evaluate.counterDataImageSize = image_.size();
  evaluate.rangeIndex = index;
  evaluate.ppMetricNames = names_.data();
  evaluate.numMetrics = names_.size();
  evaluate.pMetricValues = values.data();
  if (!GABLE_SAMPLING(cuptiPmSamplingCounterDataGetSampleInfo, &info) ||
      !told("cuptiProfilerHostEvaluateToGpuValues",
            cupti().cuptiProfilerHostEvaluateToGpuValues(&evaluate)))
    return false;
  if (std::exchange(first_, false)) return true;
  ++samples.count;
  const auto length = static_cast<double>(info.endTimestamp - info.startTimestamp);
  samples.shortest_ns = samples.first_ns == 0 ? length : std::min(samples.shortest_ns, length);
  samples.longest_ns = std::max(samples.longest_ns, length);
  if (samples.first_ns == 0) samples.first_ns = info.startTimestamp;
  samples.last_ns = info.endTimestamp;
  samples.sums.resize(values.size());
  bool known = true;
  for (const double value : values) known = known && std::isfinite(value);
  if (!known) ++samples.unknown;
  for (std::size_t i = 0; known && i < values.size(); ++i) samples.sums[i] += values[i];
  return true;
}

bool Sampler::decode(Samples& samples) {
  GABLE_SAMPLING_PARAMS(CUpti_PmSampling_DecodeData, decode);
  decode.pPmSamplingObject = object_;
  // As many times as the image fills up; bounded, as an end may never be said.
  for (int turn = 0; turn < 50; ++turn) {
    image_ = pristine_;
    decode.pCounterDataImage = image_.data();
    decode.counterDataImageSize = image_.size();
    const bool good = GABLE_SAMPLING(cuptiPmSamplingDecodeData, &decode);
    samples.overflow = samples.overflow || decode.overflow != 0;
    if (!good) return false;
    GABLE_SAMPLING_PARAMS(CUpti_PmSampling_GetCounterDataInfo, info);
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    if (!GABLE_SAMPLING(cuptiPmSamplingGetCounterDataInfo, &info)) return false;
    for (std::size_t i = 0; i < info.numCompletedSamples; ++i) {
      if (!take(i, samples)) return false;
    }
    if (decode.decodeStopReason != CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL)
      return true;
    samples.full = true;
  }
  return true;
}

bool Sampler::stop() {
  GABLE_SAMPLING_PARAMS(CUpti_PmSampling_Stop, stop);
  stop.pPmSamplingObject = object_;
  return GABLE_SAMPLING(cuptiPmSamplingStop, &stop);
}

bool Sampler::disable() {
  GABLE_SAMPLING_PARAMS(CUpti_PmSampling_Disable, disable);
  disable.pPmSamplingObject = std::exchange(object_, nullptr);
  return GABLE_SAMPLING(cuptiPmSamplingDisable, &disable);
}

}  // namespace gable::probe

// SPDX-License-Identifier: Apache-2.0
// PM sampling, which Gable does not use: beside activity, and while a range profiler is enabled.
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <dlfcn.h>

#include <cmath>

#include "tests/gpu/probe/experiments.h"

namespace gable::probe {
namespace {

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
#define GABLE_PARAMS(type, name) \
  type##_Params name{};          \
  name.structSize = type##_Params_STRUCT_SIZE

struct Config {
  CUpti_Profiler_Host_Object* host = nullptr;
  std::vector<std::uint8_t> image;
  std::vector<std::string> metrics;
  std::vector<const char*> names;
};

bool make(Config& config, const std::vector<std::uint8_t>& available) {
  for (const std::string& metric : hw_pass().metrics) {
    if (metric.rfind("dram__sectors", 0) == 0) config.metrics.push_back(metric);
  }
  for (const std::string& metric : config.metrics) config.names.push_back(metric.c_str());
  const std::string name = chip();
  GABLE_PARAMS(CUpti_Profiler_Host_Initialize, begin);
  begin.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  begin.pChipName = name.c_str();
  if (!available.empty()) begin.pCounterAvailabilityImage = available.data();
  if (!told("cuptiProfilerHostInitialize", cupti().cuptiProfilerHostInitialize(&begin)))
    return false;
  config.host = begin.pHostObject;
  GABLE_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add);
  add.pHostObject = config.host;
  add.ppMetricNames = config.names.data();
  add.numMetrics = config.names.size();
  GABLE_PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
  size.pHostObject = config.host;
  if (!told("cuptiProfilerHostConfigAddMetrics", cupti().cuptiProfilerHostConfigAddMetrics(&add)) ||
      !told("cuptiProfilerHostGetConfigImageSize",
            cupti().cuptiProfilerHostGetConfigImageSize(&size)))
    return false;
  config.image.resize(size.configImageSize);
  GABLE_PARAMS(CUpti_Profiler_Host_GetConfigImage, get);
  get.pHostObject = config.host;
  get.configImageSize = config.image.size();
  get.pConfigImage = config.image.data();
  return told("cuptiProfilerHostGetConfigImage", cupti().cuptiProfilerHostGetConfigImage(&get));
}

std::vector<std::uint8_t> availability() {
  GABLE_PARAMS(CUpti_PmSampling_GetCounterAvailability, params);
  if (!GABLE_SAMPLING(cuptiPmSamplingGetCounterAvailability, &params)) return {};
  std::vector<std::uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  if (!GABLE_SAMPLING(cuptiPmSamplingGetCounterAvailability, &params)) image.clear();
  return image;
}

struct Samples {
  std::size_t count = 0, unknown = 0;
  bool overflow = false;
  double bytes = 0;
};

// The copies under sampling; false when a call failed.
bool sampled(CUpti_PmSampling_Object* object, Config& config, std::uint64_t interval_ns,
             const std::function<void()>& work, Samples& samples) {
  GABLE_PARAMS(CUpti_PmSampling_SetConfig, set);
  set.pPmSamplingObject = object;
  set.configSize = config.image.size();
  set.pConfig = config.image.data();
  set.hardwareBufferSize = std::size_t{256} << 20;
  set.samplingInterval = interval_ns;
  set.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  set.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
  GABLE_PARAMS(CUpti_PmSampling_GetCounterDataSize, size);
  size.pPmSamplingObject = object;
  size.pMetricNames = config.names.data();
  size.numMetrics = config.names.size();
  size.maxSamples = 20000;
  if (!GABLE_SAMPLING(cuptiPmSamplingSetConfig, &set) ||
      !GABLE_SAMPLING(cuptiPmSamplingGetCounterDataSize, &size))
    return false;
  std::vector<std::uint8_t> image(size.counterDataSize);
  GABLE_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize, empty);
  empty.pPmSamplingObject = object;
  empty.counterDataSize = image.size();
  empty.pCounterData = image.data();
  GABLE_PARAMS(CUpti_PmSampling_Start, start);
  start.pPmSamplingObject = object;
  GABLE_PARAMS(CUpti_PmSampling_Stop, stop);
  stop.pPmSamplingObject = object;
  if (!GABLE_SAMPLING(cuptiPmSamplingCounterDataImageInitialize, &empty) ||
      !GABLE_SAMPLING(cuptiPmSamplingStart, &start))
    return false;
  work();
  if (!GABLE_SAMPLING(cuptiPmSamplingStop, &stop)) return false;
  GABLE_PARAMS(CUpti_PmSampling_DecodeData, decode);
  decode.pPmSamplingObject = object;
  decode.pCounterDataImage = image.data();
  decode.counterDataImageSize = image.size();
  for (int turn = 0; turn < 50; ++turn) {
    if (!GABLE_SAMPLING(cuptiPmSamplingDecodeData, &decode)) break;
    samples.overflow = samples.overflow || decode.overflow != 0;
    if (decode.decodeStopReason != CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER) break;
  }
  GABLE_PARAMS(CUpti_PmSampling_GetCounterDataInfo, info);
  info.pCounterDataImage = image.data();
  info.counterDataImageSize = image.size();
  if (!GABLE_SAMPLING(cuptiPmSamplingGetCounterDataInfo, &info)) return false;
  samples.count = info.numCompletedSamples;
  for (std::size_t i = 1; i < samples.count; ++i) {  // the first one is priming
    std::vector<double> values(config.names.size(), std::nan(""));
    GABLE_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, evaluate);
    evaluate.pHostObject = config.host;
    evaluate.pCounterDataImage = image.data();
    evaluate.counterDataImageSize = image.size();
    evaluate.rangeIndex = i;
    evaluate.ppMetricNames = config.names.data();
    evaluate.numMetrics = config.names.size();
    evaluate.pMetricValues = values.data();
    if (!told("cuptiProfilerHostEvaluateToGpuValues",
              cupti().cuptiProfilerHostEvaluateToGpuValues(&evaluate)))
      return false;
    double sectors = 0;
    for (const double value : values) sectors += value;
    if (std::isfinite(sectors)) {
      samples.bytes += 32 * sectors;
    } else {
      ++samples.unknown;
    }
  }
  return true;
}

void sampling() {
  (void)sampling_call<decltype(cuptiPmSamplingEnable)>("cuptiPmSamplingEnable");
  Work work;
  const CUfunction copy = work.gpu.kernel(kKernels, "probe_copy");
  const std::size_t bytes = std::size_t{1} << 30;
  const CUdeviceptr from = work.large(bytes), to = work.large(bytes);
  constexpr std::size_t kCopies = 20;
  start_engine();
  activity_on();
  const auto available = availability();
  Config config;
  GABLE_PARAMS(CUpti_PmSampling_Enable, enable);
  if (!make(config, available) || !GABLE_SAMPLING(cuptiPmSamplingEnable, &enable))
    return answer(false, "Sampling could not be enabled.", {{"available_bytes", available.size()}});
  Json fields = {{"available_bytes", available.size()}};
  bool done = true;
  std::string says = "sampled / copied:";
  for (const std::uint64_t interval : {100000U, 20000U, 5000U}) {
    Samples samples;
    done = sampled(
               enable.pPmSamplingObject, config, interval,
               [&] {
                 for (std::size_t i = 0; i < kCopies; ++i)
                   work.gpu.launch(copy, {2048, 512}, to, from,
                                   static_cast<unsigned long long>(bytes / 16));
                 work.gpu.wait();
               },
               samples) &&
           done;
    const double share = samples.bytes / (2.0 * kCopies * static_cast<double>(bytes));
    fields[std::to_string(interval) + "_ns"] = {{"samples", samples.count},
                                                {"not_numbers", samples.unknown},
                                                {"overflow", samples.overflow},
                                                {"bytes_share", share}};
    char text[48];
    std::snprintf(text, sizeof text, " %.3f at %u us", share,
                  static_cast<unsigned>(interval / 1000));
    says += text;
  }
  Profiler profiler(work.context());
  const bool beside = profiler.enable();
  if (beside) profiler.disable();
  const std::size_t records = flushed_records().kernels;
  GABLE_PARAMS(CUpti_PmSampling_Disable, disable);
  disable.pPmSamplingObject = enable.pPmSamplingObject;
  (void)GABLE_SAMPLING(cuptiPmSamplingDisable, &disable);
  fields["records"] = records;
  fields["range_profiler_beside"] = beside;
  answer(done && records == 3 * kCopies, says + "; " + std::to_string(records) + " records beside",
         fields);
}

}  // namespace

void add_sampling(std::vector<Experiment>& list) { list.push_back({"sampling", sampling}); }

}  // namespace gable::probe

// SPDX-License-Identifier: Apache-2.0
// CUPTI for the probe: one call after the other with no remedies, so that every answer is CUPTI's
// own. The configurations are those of the product's plan for the chip.
#pragma once

#include <cupti.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "collector/cupti/cupti_api.h"
#include "collector/metrics/host_object.h"
#include "collector/metrics/plan.h"

namespace gable::probe {

using Json = nlohmann::ordered_json;

struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Opened at the first use; throws Skipped when there is none that takes counters.
[[nodiscard]] const CuptiApi& cupti();
[[nodiscard]] std::string chip();            // after cuInit
[[nodiscard]] const MetricPlan& plan();      // of the chip
[[nodiscard]] const PassPlan& hw_pass();     // the first of its hardware passes
[[nodiscard]] const PassPlan& flops_pass();  // its instrumented pass
// A configuration of several passes, for kernel replay.
[[nodiscard]] const PassPlan& two_passes();
// cuptiProfilerInitialize.
bool start_engine();

// Remembers what failed; the answer is printed with it. True for success.
bool told(const char* call, CUptiResult code);
[[nodiscard]] const std::vector<std::string>& failures();  // "cuptiActivityEnable: CUPTI_…"

// The profiler of one context. What it needs outlives it.
class Profiler {
 public:
  explicit Profiler(CUcontext context) : context_(context) {}
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  bool enable();
  // The object keeps its first configuration (second_config): another one gets a new object, but
  // for keep_object. Makes and initializes a counter image for the plan and sets the configuration.
  bool configure(const PassPlan& plan, CUpti_ProfilerRange range, CUpti_ProfilerReplayMode replay,
                 std::size_t ranges);
  bool start();
  bool push(const char* name);
  bool pop();
  bool stop();
  bool decode();
  bool disable();

  struct Range {
    std::string name;
    std::vector<double> values;  // of the plan's metrics
  };
  [[nodiscard]] std::vector<Range> read(std::size_t most = SIZE_MAX);
  [[nodiscard]] std::size_t count() const { return count_; }  // of ranges, once read
  // Of all ranges, in their order; NaN where the plan has no such metric.
  [[nodiscard]] std::vector<double> values(const std::vector<Range>& ranges,
                                           const std::string& metric) const;

  [[nodiscard]] bool all_passes() const { return all_passes_; }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }
  [[nodiscard]] std::size_t image_bytes() const { return image_ == nullptr ? 0 : image_->size(); }
  void keep_object() { same_object_ = true; }
  [[nodiscard]] int target_level() const { return target_level_; }

 private:
  CUptiResult set_config(const PassPlan& plan, CUpti_ProfilerRange range,
                         CUpti_ProfilerReplayMode replay, std::size_t ranges);

  CUcontext context_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::list<std::vector<std::uint8_t>> images_;  // alive until disabled
  std::list<std::unique_ptr<HostObject>> hosts_;
  std::mutex names_mutex_;
  std::list<std::string> names_;
  std::vector<std::uint8_t>* image_ = nullptr;
  HostObject* host_ = nullptr;
  const PassPlan* plan_ = nullptr;
  bool all_passes_ = false, same_object_ = false;
  std::size_t dropped_ = 0, count_ = 0;
  int target_level_ = 0;
  struct Configuration {
    const PassPlan* plan;
    CUpti_ProfilerRange range;
    std::size_t ranges;
  };
  std::optional<Configuration> configured_;
};

// Kernel records.
struct Records {
  std::size_t kernels = 0, zero_times = 0, others = 0;
  std::vector<double> durations_ns;
};
bool activity_on();
bool activity_off();
[[nodiscard]] Records flushed_records();  // since the last call

[[nodiscard]] double us_since(std::chrono::steady_clock::time_point begin);

}  // namespace gable::probe

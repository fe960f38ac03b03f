// SPDX-License-Identifier: Apache-2.0
// PM sampling for the probe. Gable does not use it yet.
#pragma once

#include <cupti_pmsampling.h>

#include "tests/gpu/probe/cupti.h"

namespace gable::probe {

// What was decoded since the last call that took it.
struct Samples {
  std::size_t count = 0, unknown = 0;  // unknown: with a value that is no number
  bool overflow = false, full = false;
  std::vector<double> sums;                 // of the metrics
  std::uint64_t first_ns = 0, last_ns = 0;  // of the CPU's clock
  double shortest_ns = 0, longest_ns = 0;   // a sample
};

struct SamplerSettings {
  std::uint64_t interval = 100000;  // ns, or clock cycles where `by_clock`
  bool by_clock = false;
  std::size_t buffer_bytes = std::size_t{64} << 20;
  bool keep_latest = false;
};

class Sampler {
 public:
  Sampler();  // throws Skipped where there is no PM sampling
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // These metrics, of which those at the end are left out until one pass is enough.
  bool enable(std::vector<std::string> metrics);
  bool start(const SamplerSettings& settings);
  bool decode(Samples& samples);  // also while it runs
  bool stop();
  bool disable();

  [[nodiscard]] const std::vector<std::string>& metrics() const { return metrics_; }
  [[nodiscard]] std::size_t available_bytes() const { return available_.size(); }

 private:
  bool configure();
  bool make_host();
  bool empty_image();
  bool take(std::size_t index, Samples& samples);

  CUpti_PmSampling_Object* object_ = nullptr;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<std::uint8_t> available_, config_, image_, pristine_;
  std::vector<std::string> metrics_;
  std::vector<const char*> names_;
  bool first_ = true;  // the first sample of a start is priming
};

}  // namespace gable::probe

// SPDX-License-Identifier: Apache-2.0
// One GPU on which the kernels of `gable ceilings` run, by the driver's calls (never linked).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/events/events.h"
#include "collector/cupti/device_query.h"
#include "tools/ceilings/ceilings_kernels.h"

namespace gable {

struct KernelCalls;  // of the driver

// What a launch took. `clock_hz`: of the SMs, from the cycles that the first block counted, where
// all blocks run at once.
struct LaunchTime {
  double seconds = 0;
  std::optional<double> clock_hz;
};

class RoofGpu {
 public:
  // Every GPU of this machine; empty with one sentence in `why_not`. Takes libraries that wait to
  // be injected out of this process's environment: a profiler would be measured too.
  static std::vector<DeviceInfo> devices(std::string& why_not);

  // A context on that device. `problem()` is not empty when there is none.
  explicit RoofGpu(const DeviceInfo& device);
  ~RoofGpu();
  RoofGpu(const RoofGpu&) = delete;
  RoofGpu& operator=(const RoofGpu&) = delete;

  // Loads a kernel and the memory that it needs. Empty, or a sentence why it cannot run here.
  [[nodiscard]] std::string load(const RoofKernel& kernel);
  // "1024 MiB" of the loaded kernel's window; empty for compute.
  [[nodiscard]] std::string window() const;
  // Operations or bytes of a launch of it.
  [[nodiscard]] double operations(std::uint32_t iterations) const;
  // Nothing when it failed: problem() says why.
  [[nodiscard]] std::optional<LaunchTime> launch(std::uint32_t iterations);

  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  bool good(CUresult code, const char* call);
  [[nodiscard]] std::uint64_t window_bytes(const RoofKernel& kernel);
  void fit_blocks(const RoofKernel& kernel);
  void unload();

  DeviceInfo device_;
  std::unique_ptr<KernelCalls> calls_;
  std::string problem_;
  CUcontext context_ = nullptr;
  CUevent begin_ = nullptr, end_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  CUdeviceptr data_ = 0, out_ = 0;
  const RoofKernel* kernel_ = nullptr;
  unsigned blocks_per_sm_ = 0;  // that run at once
  bool one_wave_ = false;       // known: the first block lives as long as the launch
  std::uint64_t window_ = 0;
};

}  // namespace gable

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

struct KernelCalls;  // calls of the driver

// The duration of a launch. `clock_hz`: SM clock, from the cycles and the time of the first block.
// It may end long before the launch: an SM prefers its oldest warps.
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

  // Loads a kernel and the memory that it needs. Returns an empty text, or a sentence why it cannot
  // run here.
  [[nodiscard]] std::string load(const RoofKernel& kernel);
  // Size of the loaded kernel's window, such as "1024 MiB"; empty for compute.
  [[nodiscard]] std::string window() const;
  // Operations or bytes of one launch of the loaded kernel.
  [[nodiscard]] double operations(std::uint32_t iterations) const;
  // Launches it; returns nothing on failure, when problem() says why.
  [[nodiscard]] std::optional<LaunchTime> launch(std::uint32_t iterations);

  // Takes memory of the host and of the GPU for copies in that direction: pinned, as only its
  // copies run at the link's speed. Returns an empty text, or a sentence why it cannot be had.
  [[nodiscard]] std::string load_copies(CopyKind kind);
  // Copies one after the other, `times` times; the seconds that it took. Nothing on failure, when
  // problem() says why.
  [[nodiscard]] std::optional<double> copy(std::uint32_t times);
  [[nodiscard]] static double copied_bytes(std::uint32_t times);
  // What NVML says of the device's links now: after copies, as idle ones slow down.
  [[nodiscard]] DeviceLinks links() const;

  // Loads the kernel of launch_latency(). Returns an empty text, or a sentence why it cannot run.
  [[nodiscard]] std::string load_latency();
  // Waits until the GPU is idle, launches, and returns the ns from the call until the host saw what
  // the kernel wrote; returns nothing on failure, when problem() says why.
  [[nodiscard]] std::optional<double> launch_latency();

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
  CUdeviceptr address_ = 0;            // of seen_, for the GPU
  void* seen_ = nullptr;               // memory of the host: launch_latency()'s kernel writes to it
  CopyKind copies_ = CopyKind::other;  // direction of the copies that are loaded
  std::uint32_t launched_ = 0;         // the number that its last launch wrote there
  const RoofKernel* kernel_ = nullptr;
  unsigned blocks_per_sm_ = 0;  // blocks per SM that run at once
  std::uint64_t window_ = 0;
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// NVML (libnvidia-ml.so.1, opened at run time): GPU facts that CUDA lacks or that must not be
// queried inside callbacks. Any NVML call may be missing or fail; the value is then unknown.
//
// Names, constants and error codes are those of nvml.h, API 13 (NVIDIA/go-nvml, gen/nvml/nvml.h),
// compared with nvidia-ml-py 13.615.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/events/events.h"

namespace gable {

// NVML calls may hang: open() and device queries are only for GpuWatch's thread.
class Nvml {
 public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Looks up NVML's calls; called in the driver's start, because it waits for the loader's lock.
  void find();
  // Opens NVML; called once, after find() and cuInit. Takes up to a second. Returns false if NVML
  // is unusable.
  [[nodiscard]] bool open();

  // Number of CUDA ordinals, from 0; devices unknown to NVML have no values.
  [[nodiscard]] std::int32_t devices() const;
  // Free memory in bytes.
  [[nodiscard]] std::optional<std::uint64_t> free_bytes(std::int32_t device) const;
  // How the device is connected. The PCIe link is as of now: an idle GPU lowers its generation.
  [[nodiscard]] DeviceLinks links(std::int32_t device) const;
  [[nodiscard]] DeviceLinks::Pcie pcie(std::int32_t device) const;
  // The device's current clocks, power and temperature. From Ampere on, except on GA100, power is a
  // mean over the last second.
  [[nodiscard]] GpuReading read(std::int32_t device) const;

 private:
  struct Calls;

  [[nodiscard]] void* handle(std::int32_t device) const;

  std::unique_ptr<Calls> calls_;
  std::vector<void*> handles_;  // by CUDA ordinal; null: unknown
};

// The NVLink version (5 for NVLink 5.0) for a value of nvmlNvlinkVersion_t; 0: unknown.
// `compute_major`, `compute_minor`: the device's compute capability.
[[nodiscard]] int nvlink_version(unsigned value, int compute_major, int compute_minor);

}  // namespace gable

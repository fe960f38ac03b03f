// SPDX-License-Identifier: Apache-2.0
// NVML (libnvidia-ml.so.1, opened at run time): what it knows of the GPUs, which CUDA does not tell
// or must not be asked inside callbacks. Each of its calls may be missing or refuse; what it does
// not tell is unknown.
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

// Its calls may hang: open() and what asks a device are for the thread of GpuWatch alone.
class Nvml {
 public:
  Nvml();
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  // Looks for the calls that open() makes. In the driver's start: waits for the loader's lock.
  void find();
  // Once, after find() and cuInit. Takes up to a second. False: nothing can be asked.
  [[nodiscard]] bool open();

  // Devices by their CUDA ordinals, from 0; those that NVML does not know answer nothing.
  [[nodiscard]] std::int32_t devices() const;
  // Byte.
  [[nodiscard]] std::optional<std::uint64_t> free_bytes(std::int32_t device) const;
  // How the device is connected. The PCIe link as it is now: an idle GPU lowers its generation.
  [[nodiscard]] DeviceLinks links(std::int32_t device) const;
  [[nodiscard]] DeviceLinks::Pcie pcie(std::int32_t device) const;
  // Its clocks, power and temperature now. On GPUs from Ampere on, but for GA100, power is a mean
  // over the last second.
  [[nodiscard]] GpuReading read(std::int32_t device) const;

 private:
  struct Calls;

  [[nodiscard]] void* handle(std::int32_t device) const;

  std::unique_ptr<Calls> calls_;
  std::vector<void*> handles_;  // by CUDA ordinal; null: unknown
};

// The version of NVLink (5 of NVLink 5.0) that a value of nvmlNvlinkVersion_t means; 0: unknown.
// `compute_major`, `compute_minor`: of the device.
[[nodiscard]] int nvlink_version(unsigned value, int compute_major, int compute_minor);

}  // namespace gable

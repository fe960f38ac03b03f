// SPDX-License-Identifier: Apache-2.0
// A thread that only calls NVML, so that if a call hangs only this thread does; what NVML would
// have said stays unknown.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/events/events.h"

namespace gable {

class GpuWatch {
 public:
  // How long the program's threads wait until NVML is open, and for an answer, which usually takes
  // microseconds. After one that came too late nobody waits again.
  static constexpr std::chrono::milliseconds kOpenPatience{2000}, kPatience{500};

  GpuWatch();

  // Called in the driver's start, because it waits for the loader's lock.
  void find();
  // Starts the thread, which opens NVML; called on Gable's own thread after cuInit. Later calls do
  // nothing.
  void start();

  // Discards earlier readings and reads each GPU in use ten times a second while `when` returns
  // true, until rest().
  void watch(std::function<bool()> when);
  // Stops the readings; waits at most 0.1 s for one being taken.
  void rest();
  // Says that the program uses this device. Cheap, callable from any thread.
  void use(std::int32_t device);
  // The readings so far by CUDA ordinal; nothing for a GPU without one.
  [[nodiscard]] std::vector<std::optional<GpuState>> states() const;

  // Free memory in bytes; unknown if NVML does not tell, or not in time. From any thread.
  [[nodiscard]] std::optional<std::uint64_t> free_bytes(std::int32_t device);
  // Links of the devices by CUDA ordinal, as far as known.
  [[nodiscard]] std::vector<DeviceLinks> links() const;

 private:
  struct Shared;

  const std::shared_ptr<Shared> shared_;  // shared with the thread, which is never ended
};

}  // namespace gable

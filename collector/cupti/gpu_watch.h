// SPDX-License-Identifier: Apache-2.0
// The thread that does nothing but ask NVML, because a call of it may hang: then only this thread
// hangs, and what NVML would have told stays unknown.
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
  // How long the program's threads wait until NVML is open, and then for an answer, which takes
  // microseconds. After one that did not come in time nobody waits any more.
  static constexpr std::chrono::milliseconds kOpenPatience{2000}, kPatience{500};

  GpuWatch();

  // In the driver's start: waits for the loader's lock.
  void find();
  // From a thread of ours, after cuInit: the thread begins, and opens NVML. Later calls do nothing.
  void start();

  // From here on the thread takes a reading of each GPU in use, ten times a second while `when`
  // says so, and forgets those before. Until rest().
  void watch(std::function<bool()> when);
  // Waits for a reading that is being taken, but for no more than a tenth of a second.
  void rest();
  // The program uses this device. From any thread; cheap.
  void use(std::int32_t device);
  // What the readings say by now, by CUDA ordinal; nothing where there is none.
  [[nodiscard]] std::vector<std::optional<GpuState>> states() const;

  // Byte, from any thread. Unknown: NVML does not tell, or not in time.
  [[nodiscard]] std::optional<std::uint64_t> free_bytes(std::int32_t device);
  // Of the devices by their CUDA ordinals, as far as they are known by now.
  [[nodiscard]] std::vector<DeviceLinks> links() const;

 private:
  struct Shared;

  const std::shared_ptr<Shared> shared_;  // with the thread, which outlives everything
};

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Free memory of the GPUs, asked of NVML (libnvidia-ml.so.1, opened at run time): inside callbacks
// CUDA itself must not be asked. Where NVML is missing or says nothing, it is unknown.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gable {

class GpuMemory {
 public:
  // From a thread of ours, once, after cuInit: takes up to a second.
  void open();
  // Before that, in the driver's start: what open() calls. Waits for the loader's lock.
  void find();
  // Byte, from any thread. NVML locks for itself; takes microseconds.
  [[nodiscard]] std::optional<std::uint64_t> free_bytes(std::int32_t device) const;

 private:
  struct Info {  // nvmlMemory_t
    unsigned long long total, free, used;
  };
  using Ask = int (*)(void* device, Info* info);

  struct Calls;
  std::shared_ptr<const Calls> calls_;

  Ask ask_ = nullptr;
  std::vector<void*> handles_;  // by CUDA ordinal; null: unknown
  std::atomic<bool> ready_{false};
};

}  // namespace gable

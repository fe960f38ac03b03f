// SPDX-License-Identifier: Apache-2.0
// The playback libnvidia-ml: free memory, as GABLE_PLAYBACK_FREE_MEMORY says: byte, a list with
// commas of which every question takes the next and the last holds for good. Without it, every
// question fails, as where NVML may not be asked.
#include <cstdlib>
#include <mutex>
#include <string>

namespace {

struct Memory {
  unsigned long long total, free, used;
};
constexpr int kSuccess = 0, kUnknown = 999;
constexpr unsigned long long kTotal = 150754820096ULL;

std::mutex& mutex() {
  static auto& the = *new std::mutex;
  return the;
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int nvmlInit_v2(void) { return kSuccess; }

__attribute__((visibility("default"))) int nvmlDeviceGetHandleByPciBusId_v2(const char* bus,
                                                                            void** device) {
  if (bus == nullptr || device == nullptr || *bus == 0) return kUnknown;
  *device = mutex().native_handle();  // any pointer that is not null
  return kSuccess;
}

__attribute__((visibility("default"))) int nvmlDeviceGetMemoryInfo(void* device, Memory* memory) {
  const std::lock_guard<std::mutex> hold(mutex());
  static auto& left = *[] {
    const char* text = std::getenv("GABLE_PLAYBACK_FREE_MEMORY");
    return new std::string(text != nullptr ? text : "");
  }();
  if (device == nullptr || memory == nullptr || left.empty()) return kUnknown;
  const auto comma = left.find(',');
  memory->free = std::strtoull(left.c_str(), nullptr, 10);
  memory->total = kTotal;
  memory->used = kTotal - memory->free;
  if (comma != std::string::npos) left.erase(0, comma + 1);
  return kSuccess;
}

}  // extern "C"

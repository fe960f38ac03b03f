// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "collector/cupti/cupti_api.h"
#include "collector/cupti/device_query.h"
#include "tests/gpu/prove/lines.h"
#include "tests/gpu/prove/parts.h"
#include "tests/gpu/prove/place.h"

namespace gable::prove {
namespace {

// "580.159.04", of NVML or of the kernel's module.
std::string driver_release() {
  if (void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL); nvml != nullptr) {
    using Init = int (*)();
    using Version = int (*)(char*, unsigned);
    const auto init = reinterpret_cast<Init>(dlsym(nvml, "nvmlInit_v2"));
    const auto version = reinterpret_cast<Version>(dlsym(nvml, "nvmlSystemGetDriverVersion"));
    std::array<char, 96> text{};
    if (init != nullptr && version != nullptr && init() == 0 &&
        version(text.data(), text.size()) == 0)
      return text.data();
  }
  std::ifstream module("/sys/module/nvidia/version");
  std::string text;
  std::getline(module, text);
  return text.empty() ? "unknown" : text;
}

}  // namespace

int about(const Arguments&) {
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) unsetenv(name);
  const bool played = std::getenv("GABLE_PLAYBACK") != nullptr;
  const DriverCalls driver = load_driver(true);
  int version = 0;
  std::vector<DeviceInfo> devices;
  const char* asked = std::getenv("GABLE_PROVE_CUPTI");
  CuptiApi cupti;
  if (driver.usable() && driver.init(0) == CUDA_SUCCESS &&
      driver.version(&version) == CUDA_SUCCESS) {
    cupti = load_cupti(asked == nullptr ? "" : asked);
    devices = query_devices(driver, !start_engine(cupti).failed() ? &cupti : nullptr);
  }
  if (devices.empty()) {
    std::fprintf(stderr, "%s\n",
                 driver.usable() ? "The NVIDIA driver found no GPU that can run kernels here."
                                 : driver.why_not.c_str());
    return 1;
  }
  const DeviceInfo& device = devices.front();
  Json json;
  json["source"] = played ? "playback" : "hardware";
  json["gpu"] = device.name;
  json["chip"] = device.chip;
  json["compute_capability"] =
      std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor);
  json["gpus"] = devices.size();
  json["driver"] = played ? "playback" : driver_release();
  json["cuda"] = version;
  json["cupti"] = cupti.version;
  json["runtime"] = place_name();
  json["counters"] = cupti.can_profile;
  std::fprintf(stderr, "CUPTI: %s\n", cupti.path.empty() ? "none" : cupti.path.c_str());
  if (!cupti.why_not.empty()) std::fprintf(stderr, "%s\n", cupti.why_not.c_str());
  std::printf("%s\n", json.dump().c_str());
  return 0;
}

}  // namespace gable::prove

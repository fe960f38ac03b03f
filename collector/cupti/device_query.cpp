// SPDX-License-Identifier: Apache-2.0
#include "collector/cupti/device_query.h"

#include <dlfcn.h>

#include <array>

#include "collector/cupti/cupti_codes.h"
#include "collector/cupti/cupti_params.h"
#include "collector/cupti/nvperf.h"

namespace gable {
namespace {

template <typename Function>
bool resolve(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

DeviceInfo query(const CuptiApi* started, const DriverCalls& driver, int ordinal, CUdevice device) {
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    return driver.attribute(&value, which, device) == CUDA_SUCCESS && value > 0 ? value : 0;
  };
  const auto hertz = [](int kilohertz) { return static_cast<std::uint64_t>(kilohertz) * 1000; };
  DeviceInfo info;
  info.id = ordinal;
  std::array<char, 256> name{};
  if (driver.name(name.data(), static_cast<int>(name.size() - 1), device) == CUDA_SUCCESS)
    info.name = name.data();
  if (started != nullptr) info.chip = chip_name(*started, static_cast<std::size_t>(ordinal));
  info.compute_major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  info.compute_minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  info.sm_count = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.sm_clock_max_hz = hertz(attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  info.memory_clock_max_hz = hertz(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
  info.memory_bus_bits =
      static_cast<std::uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  info.l2_bytes = static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  std::size_t bytes = 0;
  if (driver.total_memory(&bytes, device) == CUDA_SUCCESS) info.memory_bytes = bytes;
  return info;
}

}  // namespace

std::string chip_name(const CuptiApi& api, std::size_t ordinal) {
  if (api.cuptiDeviceGetChipName == nullptr) return {};
  GABLE_PARAMS(CUpti_Device_GetChipName, params);
  params.deviceIndex = ordinal;
  if (GABLE_CALL(api, cuptiDeviceGetChipName, &params) != CUPTI_SUCCESS ||
      params.pChipName == nullptr)
    return {};
  return params.pChipName;
}

DriverCalls load_driver(bool open) {
  DriverCalls calls;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (library == nullptr && open) library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    calls.why_not = open ? "No NVIDIA driver is installed here (libcuda.so.1 was not found); in a "
                           "container, start it "
                           "with --gpus all."
                         : "The program has not loaded the NVIDIA driver.";
    return calls;
  }
  const bool complete = resolve(library, "cuInit", calls.init) &&
                        resolve(library, "cuDriverGetVersion", calls.version) &&
                        resolve(library, "cuDeviceGetCount", calls.count) &&
                        resolve(library, "cuDeviceGet", calls.device) &&
                        resolve(library, "cuDeviceGetName", calls.name) &&
                        resolve(library, "cuDeviceGetAttribute", calls.attribute) &&
                        resolve(library, "cuDeviceTotalMem_v2", calls.total_memory);
  if (!complete)
    calls.why_not =
        "The libcuda.so.1 found here lacks basic calls: it is not an NVIDIA driver (a toolkit's "
        "stub?).";
  return calls;
}

std::vector<DeviceInfo> query_devices(const DriverCalls& driver, const CuptiApi* started) {
  std::vector<DeviceInfo> devices;
  int count = 0;
  if (!driver.usable() || driver.count(&count) != CUDA_SUCCESS) return devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    if (driver.device(&device, ordinal) == CUDA_SUCCESS)
      devices.push_back(query(started, driver, ordinal, device));
  }
  return devices;
}

CuptiFailure start_engine(const CuptiApi& api) {
  if (!api.can_profile) return {CUPTI_ERROR_NOT_SUPPORTED, api.why_not};
  open_nvperf(api.path);
  GABLE_PARAMS(CUpti_Profiler_Initialize, engine);
  const auto code = GABLE_CALL(api, cuptiProfilerInitialize, &engine);
  if (code == CUPTI_SUCCESS) return {};
  auto failure = call_failed(api, "cuptiProfilerInitialize", code);
  // The CUPTIs of CUDA 13 say no more than this where those before say NOT_INITIALIZED.
  if (code == CUPTI_ERROR_UNKNOWN)
    failure.sentence += " " + remedy_for(CUPTI_ERROR_NOT_INITIALIZED);
  return failure;
}

std::string why_no_counters(const CuptiApi& api, std::int32_t device) {
  if (!api.can_profile) return api.why_not;
  GABLE_PARAMS(CUpti_Profiler_DeviceSupported, params);
  params.cuDevice = device;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  if (const auto code = GABLE_CALL(api, cuptiProfilerDeviceSupported, &params);
      code != CUPTI_SUCCESS)
    return call_failed(api, "cuptiProfilerDeviceSupported", code).sentence;
  if (params.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED ||
      params.isSupported == CUPTI_PROFILER_CONFIGURATION_UNKNOWN)
    return {};
  const auto bad = [](CUpti_Profiler_Support_Level level) {
    return level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED ||
           level == CUPTI_PROFILER_CONFIGURATION_DISABLED;
  };
  if (bad(params.architecture)) return remedy_for(CUPTI_ERROR_NOT_SUPPORTED);
  if (params.vGpu == CUPTI_PROFILER_CONFIGURATION_DISABLED)
    return remedy_for(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
  if (bad(params.vGpu)) return remedy_for(CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
  if (bad(params.confidentialCompute))
    return remedy_for(CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
  if (bad(params.cmp)) return remedy_for(CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED);
  if (bad(params.sli)) return remedy_for(kSliNotSupported);
  if (bad(params.wsl)) return remedy_for(kWslNotSupported);
  return "CUPTI has no counters on this device and does not say why.";
}

}  // namespace gable

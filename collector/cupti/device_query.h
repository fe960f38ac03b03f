// SPDX-License-Identifier: Apache-2.0
// The GPUs that this process sees, asked of the driver (never linked) and of CUPTI.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/events/events.h"
#include "collector/cupti/cupti_api.h"
#include "collector/cupti/remedies.h"

namespace gable {

// The driver's calls made here. Tests fill it with functions of their own.
struct DriverCalls {
  CUresult(CUDAAPI* init)(unsigned int) = nullptr;
  CUresult(CUDAAPI* version)(int*) = nullptr;
  CUresult(CUDAAPI* count)(int*) = nullptr;
  CUresult(CUDAAPI* device)(CUdevice*, int) = nullptr;
  CUresult(CUDAAPI* name)(char*, int, CUdevice) = nullptr;
  CUresult(CUDAAPI* attribute)(int*, CUdevice_attribute, CUdevice) = nullptr;
  CUresult(CUDAAPI* total_memory)(std::size_t*, CUdevice) = nullptr;
  std::string why_not;  // one sentence when the calls cannot be made
  [[nodiscard]] bool usable() const { return why_not.empty(); }
};

// The driver already in the process; `open` loads it if missing (never in a profiled program).
[[nodiscard]] DriverCalls load_driver(bool open = false);

// Every device in the order of their CUDA ordinals; empty when the driver is not initialised.
// Unknown values stay 0 or empty. Callable from any thread after cuInit. `started`: a CUPTI in
// which cuptiSubscribe or cuptiProfilerInitialize has succeeded (before that, asking for a chip
// ends the process in CUDA 13.0 and 13.1); null: chips are not queried.
[[nodiscard]] std::vector<DeviceInfo> query_devices(const DriverCalls& driver,
                                                    const CuptiApi* started);

// The chip of a device, as CUPTI names it; empty if unknown. `started` as above.
[[nodiscard]] std::string chip_name(const CuptiApi& started, std::size_t ordinal);

// Starts the profiler engine.
[[nodiscard]] CuptiFailure start_engine(const CuptiApi& api);

// Why CUPTI has no counters on a device, in one sentence with the remedy; empty if it has, or if
// unknown. Needs the profiler engine.
[[nodiscard]] std::string why_no_counters(const CuptiApi& api, std::int32_t device);

}  // namespace gable

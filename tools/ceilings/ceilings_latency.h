// SPDX-License-Identifier: Apache-2.0
// The launch latency of a machine, from many launches on an idle GPU. Independent of GPUs.
#pragma once

#include <functional>
#include <optional>

#include "analysis/roofline/measured_roofs.h"

namespace gable {

inline constexpr int kFirstLaunches = 200;  // these wake the GPU and do not count
inline constexpr int kLatencyLaunches = 1000;

// The PTX of the kernel that is launched, and its name. Its parameters: an address (u64) in memory
// of the host, and the number (u32) that it writes there.
inline constexpr const char* kLatencyKernel = "gable_latency";
[[nodiscard]] const char* latency_ptx();

// `launch` launches once and returns the ns until the kernel ran, or nothing on failure, which ends
// the measurement with nothing.
[[nodiscard]] std::optional<MeasuredLatency> measure_latency(
    const std::function<std::optional<double>()>& launch);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What a GPU's state means to the reader of its numbers, in words.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Share of the samples above which a limit on the clocks is notable.
inline constexpr double kNotableShare = 0.05;

[[nodiscard]] bool is_throttled(const DeviceInfo& device);
// The causes of throttling, the longest first: "power cap, 62 % of samples"; empty if not
// throttled.
[[nodiscard]] std::string throttled_by(const DeviceInfo& device);
// Whether a setting held the SM clock below its maximum: NVML says so, or the clock never changed.
[[nodiscard]] bool has_locked_clock(const DeviceInfo& device);

// A line for each GPU whose clocks were throttled or locked.
[[nodiscard]] std::vector<std::string> gpu_lines(const Report& report);
// The same as sentences with a remedy.
[[nodiscard]] std::vector<std::string> gpu_notes(const Report& report);

}  // namespace gable

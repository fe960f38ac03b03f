// SPDX-License-Identifier: Apache-2.0
// What a GPU's state means for who reads its numbers, in words.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gable {

// Something held the clocks down at more of the samples than this.
inline constexpr double kNotableShare = 0.05;

[[nodiscard]] bool is_throttled(const DeviceInfo& device);
// By what, the longest first: "power cap, 62 % of samples"; empty where it was not throttled.
[[nodiscard]] std::string throttled_by(const DeviceInfo& device);
// A setting held the SM clock below its highest: it says so, or the clock never moved.
[[nodiscard]] bool has_locked_clock(const DeviceInfo& device);

// A line for each GPU of which something is notable: that its clocks were throttled, or locked.
[[nodiscard]] std::vector<std::string> gpu_lines(const Report& report);
// The same as sentences, with what helps.
[[nodiscard]] std::vector<std::string> gpu_notes(const Report& report);

}  // namespace gable

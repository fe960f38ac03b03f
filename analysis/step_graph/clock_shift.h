// SPDX-License-Identifier: Apache-2.0
// A GPU's clock may be off the host's by some us. Causality tells by how much: nothing starts
// before its launch is called, and nothing that a call waited for ends after it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/step_graph/recorded_steps.h"

namespace gable {

struct ClockShift {
  // Shift to add to the times of the device's operations: the smallest that meets both bounds, or
  // the middle between them if none does.
  std::int64_t add_ns = 0;
  std::uint64_t error_ns = 0;  // by how much the bounds are then violated
};

// The shifts by device; `devices`: each operation's device.
[[nodiscard]] std::map<std::int32_t, ClockShift> clock_shifts(
    const RecordedSteps& steps, const std::vector<std::int32_t>& devices);

// Shifts the operations' times. Returns the largest error.
std::uint64_t shift_clocks(RecordedSteps& steps, const std::vector<std::int32_t>& devices);

// Rounding error of times: 2 us if all starts and durations are whole us, else 0.
[[nodiscard]] std::uint64_t rounding_error_ns(const RecordedSteps& steps);

}  // namespace gable

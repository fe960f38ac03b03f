// SPDX-License-Identifier: Apache-2.0
// A GPU's clock may be off the host's by some us. What no clock can contradict tells by how much:
// nothing starts before its launch is called, and nothing that a call waited for ends after it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/step_graph/recorded_steps.h"

namespace gable {

struct ClockShift {
  // To be added to the times of the device's operations: the least that keeps both bounds. Where
  // nothing keeps both, the middle between them.
  std::int64_t add_ns = 0;
  std::uint64_t error_ns = 0;  // by so much the bounds are broken then
};

// By device; `devices` are those of the operations.
[[nodiscard]] std::map<std::int32_t, ClockShift> clock_shifts(
    const RecordedSteps& steps, const std::vector<std::int32_t>& devices);

// Moves the operations' times by these shifts. Returns the largest error.
std::uint64_t shift_clocks(RecordedSteps& steps, const std::vector<std::int32_t>& devices);

// What times may be off by because they are whole us, starts and durations: 2 us, else 0.
[[nodiscard]] std::uint64_t rounding_error_ns(const RecordedSteps& steps);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What makes the borders of windows.
#pragma once

#include <cstdint>

namespace gable {

// The first three give way to those after them.
enum class Border : std::uint8_t {
  launches,   // after so many of them: no step is known
  period,     // the launches repeat
  recurring,  // a range that nobody named comes again and again
  point,      // the program, or the Python side, says that a step ends
  profiler,   // cudaProfilerStart and cudaProfilerStop
  range,      // --step-range
};

// Who says that a step ends; the later ones win where several do.
enum class StepPoint : std::uint8_t { forward, optimizer, call };

// Border and point as the report calls them (steps.border).
[[nodiscard]] const char* name_of(Border border, StepPoint point);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// What makes the borders of windows.
#pragma once

#include <cstdint>

namespace gable {

// The first three give way to the later ones.
enum class Border : std::uint8_t {
  launches,   // after a number of launches: no step is known
  period,     // where the launches repeat
  recurring,  // a recurring range that the user did not name
  point,      // the program, or the Python side, says that a step ends
  profiler,   // cudaProfilerStart and cudaProfilerStop
  range,      // --step-range
};

// What reports the end of a step; a later one wins over those before it.
enum class StepPoint : std::uint8_t { forward, optimizer, call };

// Border and point as the report calls them (steps.border).
[[nodiscard]] const char* name_of(Border border, StepPoint point);

}  // namespace gable

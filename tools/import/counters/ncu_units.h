// SPDX-License-Identifier: Apache-2.0
// Units as ncu prints them: "Mbyte", "usecond", "cycle/nsecond", "register/thread", "%".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gable {

enum class NcuUnitKind : std::uint8_t { none, count, bytes, time, cycles, hertz, percent };

struct NcuUnit {
  // Factor from a value to bytes, ns, Hz and the like; time in the denominator is in seconds:
  // "Mbyte" 1e6, "usecond" 1e3, "cycle/nsecond" 1e9.
  double scale = 1;
  NcuUnitKind above = NcuUnitKind::none, below = NcuUnitKind::none;  // numerator, denominator
};

// Parses a unit; empty for unknown ones ("Mfoo") and ambiguous ones ("Msecond", "mbyte", "Mb"). A
// plain lower-case word ("wavefront") is the thing counted.
[[nodiscard]] std::optional<NcuUnit> ncu_unit(std::string_view unit);

// Factor for a value of the metric with that full name; 1 without a unit. Empty if the unit is
// unknown or does not fit the metric ("cycle" for a duration).
[[nodiscard]] std::optional<double> ncu_scale(std::string_view metric, std::string_view unit);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Units as ncu prints them: "Mbyte", "usecond", "cycle/nsecond", "register/thread", "%".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gable {

enum class NcuUnitKind : std::uint8_t { none, count, bytes, time, cycles, hertz, percent };

struct NcuUnit {
  // What a value is multiplied with to be in bytes, ns, Hz and their likes; time below the line is
  // in seconds: "Mbyte" 1e6, "usecond" 1e3, "cycle/nsecond" 1e9.
  double scale = 1;
  NcuUnitKind above = NcuUnitKind::none, below = NcuUnitKind::none;  // the line
};

// Empty for what is no such unit ("Mfoo"), and for what may be two ("Msecond", "mbyte", "Mb"). A
// plain word in small letters ("wavefront") is what is counted.
[[nodiscard]] std::optional<NcuUnit> ncu_unit(std::string_view unit);

// What a value of that metric, by its full name, is multiplied with; 1 without a unit. Empty where
// the unit is not understood, or is none of such a metric ("cycle" of a duration).
[[nodiscard]] std::optional<double> ncu_scale(std::string_view metric, std::string_view unit);

}  // namespace gable

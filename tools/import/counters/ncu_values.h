// SPDX-License-Identifier: Apache-2.0
// Numbers, units and names as ncu prints them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/events/events.h"

namespace gable {

// "53,261,312", "3995313115.40". Empty for "", "n/a" and text such as "CachePreferNone".
[[nodiscard]] std::optional<double> ncu_number(std::string_view text);

// What a value in that unit is multiplied with to be in bytes, ns, Hz and their likes: "Mbyte" 1e6,
// "usecond" 1e3, "cycle/nsecond" 1e9, "byte/block" and "%" 1.
[[nodiscard]] double ncu_unit(std::string_view unit);

// "(256, 1, 1)". Empty where it is something else, or a number is out of range.
[[nodiscard]] std::optional<Dim3> ncu_size(std::string_view text);

// The full name of what a section of the details page calls by a title ("Duration"), where it takes
// part in a report; empty for the others.
[[nodiscard]] std::string_view ncu_metric_of_title(std::string_view title, std::string_view unit);

}  // namespace gable

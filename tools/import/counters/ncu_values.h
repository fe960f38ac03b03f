// SPDX-License-Identifier: Apache-2.0
// Numbers, sizes and titles as ncu prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/events/events.h"

namespace gable {

// ncu prints numbers as the locale of its run has them: "1,234.5" or "1.234,5".
enum class DecimalMark : std::uint8_t { point, comma };

// Parses a number. Digit groups are separated by the other mark, by blanks or by apostrophes. A
// plus sign, a typographic minus and surrounding blanks are accepted. Empty for "", "n/a", "nan",
// text such as "CachePreferNone", a number with another decimal mark, and digits that are not
// ASCII's.
[[nodiscard]] std::optional<double> ncu_number(std::string_view text,
                                               DecimalMark mark = DecimalMark::point);

// The text without surrounding blanks, ASCII or others.
[[nodiscard]] std::string_view ncu_trimmed(std::string_view text);

// Whether a text that failed to parse is surely no number, such as "", "n/a", "nan" and
// "CachePreferNone". A word with digits may be text, but not if something is counted.
[[nodiscard]] bool ncu_says_nothing(std::string_view text, bool counted);

// What a number shows about its file's decimal mark.
enum class MarkEvidence : std::uint8_t {
  none,          // reads the same with both, or is no number
  point,         // "1.5", "1,234,567", "0.123"
  comma,         // "15,36", "1.234.567", "1.234,56"
  any_point,     // "1.234": 1.234 or 1234
  any_comma,     // "1,234": 1234 or 1.234
  neither,       // "1,2,3": digits and marks, but no number
  other_groups,  // "1 234", "1'234": neither mark separates groups
  no_groups,     // "1234": no separator
};
[[nodiscard]] MarkEvidence mark_evidence(std::string_view text);

// Parses "(256, 1, 1)"; empty if it is something else or a number is out of range.
[[nodiscard]] std::optional<Dim3> ncu_size(std::string_view text);

// The full name of what a section of the details page calls by a title ("Duration"), where it takes
// part in a report; empty for the others.
[[nodiscard]] std::string_view ncu_metric_of_title(std::string_view title, std::string_view unit);

}  // namespace gable

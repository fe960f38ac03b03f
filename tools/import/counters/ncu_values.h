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

// Groups of digits are parted by the mark that is not the decimal one, by blanks or by apostrophes.
// A plus, the minus of typographers and blanks around a number are no obstacle. Empty for "",
// "n/a", "nan", text such as "CachePreferNone", a number with another decimal mark, and digits that
// are not ASCII's.
[[nodiscard]] std::optional<double> ncu_number(std::string_view text,
                                               DecimalMark mark = DecimalMark::point);

// Without the blanks around it, ASCII's and others.
[[nodiscard]] std::string_view ncu_trimmed(std::string_view text);

// Of what is no number: it is none either to a reader who knows all digits and marks, as "", "n/a",
// "nan" and "CachePreferNone" are. A word with digits may be text, but not where something is
// counted.
[[nodiscard]] bool ncu_says_nothing(std::string_view text, bool counted);

// What a number says of the decimal mark of the file that it is in.
enum class MarkEvidence : std::uint8_t {
  none,          // reads alike with both, or is no number
  point,         // "1.5", "1,234,567", "0.123"
  comma,         // "15,36", "1.234.567", "1.234,56"
  any_point,     // "1.234": 1.234 or 1234
  any_comma,     // "1,234": 1234 or 1.234
  neither,       // "1,2,3": it has digits and marks, and is no number
  other_groups,  // "1 234", "1'234": neither mark parts groups
  no_groups,     // "1234": nothing does
};
[[nodiscard]] MarkEvidence mark_evidence(std::string_view text);

// "(256, 1, 1)". Empty where it is something else, or a number is out of range.
[[nodiscard]] std::optional<Dim3> ncu_size(std::string_view text);

// The full name of what a section of the details page calls by a title ("Duration"), where it takes
// part in a report; empty for the others.
[[nodiscard]] std::string_view ncu_metric_of_title(std::string_view title, std::string_view unit);

}  // namespace gable

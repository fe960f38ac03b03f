// SPDX-License-Identifier: Apache-2.0
// Text in columns, and numbers formatted for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/maybe.h"

namespace gable {

// Columns a terminal takes for valid UTF-8: 2 for CJK and emoji, 0 for combining marks.
[[nodiscard]] std::size_t display_width(std::string_view text);

// The text made safe to show on one line: line breaks and tabs become spaces; escape sequences,
// other control characters, invisible and direction-changing ones, and bytes that are not UTF-8
// become visible ("\x1b", "\u202e"), because the text may come from anybody.
[[nodiscard]] std::string one_line(std::string_view text);

// The text in at most `columns` columns; '…' replaces what is cut from the middle.
[[nodiscard]] std::string shorten_middle(const std::string& text, std::size_t columns);
// The text in at most `columns` columns; '…' replaces what is cut from the end.
[[nodiscard]] std::string shorten_end(const std::string& text, std::size_t columns);

// The text broken between words into lines of at most `columns`; a longer word gets its own line.
[[nodiscard]] std::vector<std::string> word_lines(const std::string& text, std::size_t columns);

// The value with three significant digits and no exponent: "1234", "123", "12.3", "0.12", "<0.001",
// "0"; "-" if unknown.
[[nodiscard]] std::string digits(const Maybe& value);
// The value with a prefix and a unit: "8.18 GFLOP", "1.2 TB"; "unknown".
[[nodiscard]] std::string with_prefix(const Maybe& value, std::string_view unit);
// "812 us", "1.23 ms"; "-" when unknown. `ns` is in nanoseconds.
[[nodiscard]] std::string duration(const Maybe& ns);
// "12.3 %"; "-" when unknown. `share` is a fraction.
[[nodiscard]] std::string percent(const Maybe& share);
// "+12.3 %", "-0.5 %", "0 %"; "-" when unknown.
[[nodiscard]] std::string signed_percent(const Maybe& change);

}  // namespace gable

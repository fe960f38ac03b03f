// SPDX-License-Identifier: Apache-2.0
// Text in columns, and numbers as people read them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/maybe.h"

namespace gable {

// Columns a terminal takes for valid UTF-8: 2 for CJK and emoji, 0 for combining marks.
[[nodiscard]] std::size_t display_width(std::string_view text);

// What may be shown on one line: line breaks and tabs are spaces. Escape sequences, other control
// characters, those that turn the direction of the text or are not seen, and bytes that are no
// UTF-8 become visible ("\x1b", "\u202e"): names come from programs, and files from anybody.
[[nodiscard]] std::string one_line(std::string_view text);

// At most `columns` wide; what is left out in the middle is shown as '…'.
[[nodiscard]] std::string shorten_middle(const std::string& text, std::size_t columns);
// At most `columns` wide; what is left out at the end is shown as '…'.
[[nodiscard]] std::string shorten_end(const std::string& text, std::size_t columns);

// Broken between words into lines of at most `columns`; a longer word has a line of its own.
[[nodiscard]] std::vector<std::string> word_lines(const std::string& text, std::size_t columns);

// Three significant digits without an exponent: "1234", "123", "12.3", "0.12", "<0.001", "0"; "-"
// when unknown.
[[nodiscard]] std::string digits(const Maybe& value);
// With a prefix and a unit: "8.18 GFLOP", "1.2 TB"; "unknown".
[[nodiscard]] std::string with_prefix(const Maybe& value, std::string_view unit);
// "812 us", "1.23 ms"; "-" when unknown. `ns` is in nanoseconds.
[[nodiscard]] std::string duration(const Maybe& ns);
// "12.3 %"; "-" when unknown. `share` is a fraction.
[[nodiscard]] std::string percent(const Maybe& share);
// "+12.3 %", "-0.5 %", "0 %"; "-" when unknown.
[[nodiscard]] std::string signed_percent(const Maybe& change);

}  // namespace gable

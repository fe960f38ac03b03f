// SPDX-License-Identifier: Apache-2.0
// Makes names from programs and drivers fit for a report.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gable {

inline constexpr std::size_t kMaxNameBytes = 512;
inline constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

// True when `text` is valid UTF-8 of at most `max_bytes` bytes, so that clean_name would return it
// unchanged.
[[nodiscard]] bool is_clean_name(std::string_view text, std::size_t max_bytes = kMaxNameBytes);

// Valid UTF-8 of at most `max_bytes` bytes: every maximal ill-formed sequence becomes one U+FFFD, a
// longer text is cut on a character border and ends in '…'. Reads no more of `text` than it needs.
[[nodiscard]] std::string clean_name(std::string_view text, std::size_t max_bytes = kMaxNameBytes);

// The same, but a longer text becomes its begin, its end and a unique number, so that different
// names stay different. `max_bytes`: at least 200.
[[nodiscard]] std::string fitting_name(std::string_view name,
                                       std::size_t max_bytes = kMaxNameBytes);

// The C++ name behind a mangled symbol; the symbol itself if it is not mangled.
[[nodiscard]] std::string demangled(const std::string& symbol);

}  // namespace gable

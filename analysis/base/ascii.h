// SPDX-License-Identifier: Apache-2.0
// Kinds of characters, independent of the program's locale.
#pragma once

namespace gable {

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alnum(char c) { return is_upper(c) || is_lower(c) || is_digit(c); }

}  // namespace gable

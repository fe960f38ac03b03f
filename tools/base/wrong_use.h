// SPDX-License-Identifier: Apache-2.0
// How every part of the program tells a user what is wrong: one sentence.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gable {

// Exit codes that every command shares (profile answers with its program's own).
inline constexpr int kExitGood = 0;
inline constexpr int kExitWrongUse = 2;

// Wrong use or bad input: `gable` prints the one sentence (which says what is right) to stderr and
// ends with 2.
class WrongUse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Prints one sentence to stderr as "gable: …", for remarks that do not end the command.
void say(std::string_view sentence);
// Prints one line for people; control characters are made visible (one_line()).
void print_line(std::FILE* file, std::string_view text);

// A piece of a file fit for a sentence: short, on one line, valid UTF-8.
[[nodiscard]] std::string quoted_piece(std::string_view text);

}  // namespace gable

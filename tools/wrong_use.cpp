// SPDX-License-Identifier: Apache-2.0
#include "tools/wrong_use.h"

#include <cstddef>

#include "analysis/display.h"

namespace gable {

void say(std::string_view sentence) {
  // What a file holds may be part of it, and may be very long.
  constexpr std::size_t kLongest = 1000;
  print_line(stderr, "gable: " + shorten_middle(one_line(sentence), kLongest));
}

void print_line(std::FILE* file, std::string_view text) {
  const std::string line = one_line(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), file);
}

std::string quoted_piece(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  std::string piece(text.substr(0, kLongest));
  for (char& c : piece) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  }
  return piece;
}

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace gable {

// UTF-8 of a zero-terminated wide string, at most `max_bytes` long (whole characters); invalid
// characters become U+FFFD.
inline std::string utf8_of(const wchar_t* text, std::size_t max_bytes) {
  std::string out;
  if (text == nullptr) return out;
  for (; *text != 0; ++text) {
    auto c = static_cast<char32_t>(*text);
    if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) c = 0xFFFD;
    const std::size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if (out.size() + size > max_bytes) break;
    if (size == 1) {
      out += static_cast<char>(c);
    } else {
      static constexpr unsigned char kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
      out += static_cast<char>(kLead[size] | (c >> (6 * (size - 1))));
      for (std::size_t i = size - 1; i-- > 0;)
        out += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3F));
    }
  }
  return out;
}

}  // namespace gable

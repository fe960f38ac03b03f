// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gable {

// `text` as one word for sh, always in single quotes.
[[nodiscard]] inline std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace gable

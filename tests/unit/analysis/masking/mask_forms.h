// SPDX-License-Identifier: Apache-2.0
// Commands as people write them, one a line: arguments apart by " | ", "\\n" for a line break and
// "\\|" for a pipe.
#pragma once

#include <string>
#include <vector>

namespace gable::tests {

inline std::vector<std::string> command_of(std::string line) {
  for (auto at = line.find("\\n"); at != line.npos; at = line.find("\\n", at))
    line.replace(at, 2, "\n");
  std::vector<std::string> words;
  for (std::size_t at = 0; at != line.npos;) {
    const auto end = line.find(" | ", at);
    words.push_back(line.substr(at, end == line.npos ? end : end - at));
    at = end == line.npos ? end : end + 3;
  }
  for (auto& word : words)
    for (auto at = word.find("\\|"); at != word.npos; at = word.find("\\|", at)) word.erase(at, 1);
  return words;
}

inline std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " | ") + word;
  return text;
}

}  // namespace gable::tests

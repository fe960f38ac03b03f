// SPDX-License-Identifier: Apache-2.0
// Options as one line of text, as a POSIX shell would write and split it, without expansions.
#pragma once

#include <string>
#include <vector>

namespace gable {

// The word as written in such a line, quoted if necessary.
[[nodiscard]] std::string shell_quoted(const std::string& word);

// Appends the line's words; returns false if a quote or a backslash is left open.
[[nodiscard]] bool shell_words(const std::string& line, std::vector<std::string>& words);

}  // namespace gable

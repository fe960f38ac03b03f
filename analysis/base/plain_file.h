// SPDX-License-Identifier: Apache-2.0
// Files read within other people's programs, past the standard streams: opening one of those takes
// the lock of their list, which a thread of the program may hold for as long as it likes.
#pragma once

#include <optional>
#include <string>

namespace gable {

// All of it; empty when it cannot be read.
[[nodiscard]] std::optional<std::string> read_plain_file(const std::string& path);
// The same from where an open file stands.
[[nodiscard]] std::optional<std::string> read_to_end(int file);

}  // namespace gable

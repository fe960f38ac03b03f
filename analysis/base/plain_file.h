// SPDX-License-Identifier: Apache-2.0
// Reads files inside the profiled program without the standard streams, whose opening takes a lock
// that a thread of the program may hold for any time.
#pragma once

#include <optional>
#include <string>

namespace gable {

// The whole content; empty if it cannot be read.
[[nodiscard]] std::optional<std::string> read_plain_file(const std::string& path);
// The same, from an open file's position on.
[[nodiscard]] std::optional<std::string> read_to_end(int file);

}  // namespace gable

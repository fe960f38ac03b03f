// SPDX-License-Identifier: Apache-2.0
// Files that Gable writes: reports, pages, recordings, roofs. Used within other people's programs.
#pragma once

#include <chrono>
#include <string>

#include "analysis/own_write.h"

namespace gable {

// Writes beside `path` and renames, so that a reader sees the old file or the new one, never a
// part, also when the machine stops. What is there and is no file (a pipe, a terminal, /dev/null)
// is written to in place; so are /dev/stdout and its like, whatever they lead to. `patience`: for a
// pipe's reader to come, and each time until it takes more.
// A new file has the mode that the umask leaves, and is the owner's alone in a folder where all may
// write, as reports name the host and the command. Empty when it worked, else a sentence. Never
// throws.
[[nodiscard]] std::string write_text_file(const std::string& text, const std::string& path,
                                          std::chrono::milliseconds patience = kReaderPatience);

// Whether that is what write_text_file() does.
[[nodiscard]] bool is_written_in_place(const std::string& path);

// Writes a file that is not there yet; one that could not be written to its end is removed. 0, or
// what errno would be; EEXIST: there is something of that name, even if it is a link to nothing.
[[nodiscard]] int write_new_file(const std::string& text, const std::string& path);

}  // namespace gable

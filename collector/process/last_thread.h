// SPDX-License-Identifier: Apache-2.0
// glibc ends a process when its last thread ends, and ours would be among them. So we see for
// ourselves when a program has no thread left: its main thread has ended, which is rare, and all
// others are ours.
#pragma once

#include <optional>

namespace gable {

// How a program ended whose threads have all ended, as waitpid() has it; nothing: some go on, or
// nobody can tell. Reads /proc.
[[nodiscard]] std::optional<int> status_of_ended_program();

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// glibc ends a process when its last thread ends, but Gable's threads would keep it alive. So Gable
// itself detects when a program has no thread left: its main thread has ended, which is rare, and
// all others are Gable's.
#pragma once

#include <optional>

namespace gable {

// The status, as from waitpid(), of a program whose threads have all ended; nothing if some still
// run or it is unknown. Reads /proc.
[[nodiscard]] std::optional<int> status_of_ended_program();

}  // namespace gable

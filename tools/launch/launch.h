// SPDX-License-Identifier: Apache-2.0
// Runs another program as its shell would: same standard streams, signals passed on, its exit code.
#pragma once

#include <string>
#include <vector>

namespace gable {

inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;

struct Ended {
  int exit_code = 0;  // the program's own, 128 + n after signal n, 126 or 127 when it did not start
  int signal = 0;     // the signal it died by, or 0
  std::string not_started;  // one sentence, when it did not start
};

// `program` is looked for in PATH; the environment is that of this process. SIGINT and SIGQUIT from
// the terminal reach the program by themselves; signals that were sent to this process alone are
// passed on.
[[nodiscard]] Ended run_program(const std::vector<std::string>& program);

}  // namespace gable

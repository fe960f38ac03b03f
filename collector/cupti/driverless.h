// SPDX-License-Identifier: Apache-2.0
// Questions to CUPTI that may end the process that asks them: several releases do where they cannot
// reach the driver. Asked in a process of their own. For tools and tests; in a program that uses
// CUDA nobody forks.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <cupti.h>

namespace gable {

// What became of a question. `told` is what it said before its end, `signal` what ended it.
struct Elsewhere {
  int code = 0, signal = 0;
  std::string told;
};
using Tell = std::function<void(std::string_view)>;

// Runs `question` in a forked child, which inherits standard output and ends with its answer as the
// exit code. A child that takes longer than the patience ends by SIGALRM. Where no process can be
// had the question runs in this one.
[[nodiscard]] Elsewhere ask_elsewhere(const std::function<int(const Tell&)>& question,
                                      unsigned patience_seconds);

// False when cuptiGetVersion would end this process. The CUPTI of CUDA 13.2 looks for the driver
// again and again, until the stack is full, in whatever call comes first. Asked of a child process,
// and only where no driver is loaded: never in a program that uses CUDA.
[[nodiscard]] bool survives_without_driver(CUptiResult (*get_version)(std::uint32_t*));

}  // namespace gable

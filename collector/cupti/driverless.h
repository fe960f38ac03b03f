// SPDX-License-Identifier: Apache-2.0
// Makes CUPTI calls in a child process if they may end the calling process, as they do in several
// releases that cannot reach the driver. For tools and tests; never fork in a program that uses
// CUDA.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <cupti.h>

namespace gable {

// The outcome of a question: `told` is what it said before it ended, `signal` what ended it.
struct Elsewhere {
  int code = 0, signal = 0;
  std::string told;
};
using Tell = std::function<void(std::string_view)>;

// Runs `question` in a forked child, which inherits standard output and ends with its answer as the
// exit code. A child that tells nothing for that long is ended by SIGALRM. If fork fails, the
// question runs in this process.
[[nodiscard]] Elsewhere ask_elsewhere(const std::function<int(const Tell&)>& question,
                                      unsigned patience_seconds);

// Whether cuptiGetVersion leaves this process alive; found out in a child process, and only if no
// driver is loaded, so never in a program that uses CUDA. Without a driver, the first call to the
// CUPTI of CUDA 13.2 overflows the stack.
[[nodiscard]] bool survives_without_driver(CUptiResult (*get_version)(std::uint32_t*));

}  // namespace gable

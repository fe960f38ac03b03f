// SPDX-License-Identifier: Apache-2.0
// Shorter waits for tests on the playback GPU.
#pragma once

#include <chrono>

namespace gable {

// The milliseconds that the environment variable asks for, else the usual ones.
[[nodiscard]] std::chrono::milliseconds or_shorter(const char* variable,
                                                   std::chrono::milliseconds usual);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
// Tests on the playback GPU cannot wait as long as is right elsewhere.
#pragma once

#include <chrono>

namespace gable {

// The milliseconds that the variable asks for, else the usual ones.
[[nodiscard]] std::chrono::milliseconds or_shorter(const char* variable,
                                                   std::chrono::milliseconds usual);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#include "collector/session/shorter_waits.h"

#include <cstdlib>

namespace gable {

std::chrono::milliseconds or_shorter(const char* variable, std::chrono::milliseconds usual) {
  const char* text = std::getenv(variable);
  const auto ms = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
  return ms > 0 ? std::chrono::milliseconds(ms) : usual;
}

}  // namespace gable

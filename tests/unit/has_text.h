// SPDX-License-Identifier: Apache-2.0
// What tests of sentences ask most.
#pragma once

#include <string>

namespace gable {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace gable

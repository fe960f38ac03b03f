// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace gable {

// A number that may be unknown: std::nullopt here, null in files, never 0.
using Maybe = std::optional<double>;

// `scale` x top / bottom; unknown if a part is or if the bottom is not above 0.
[[nodiscard]] inline Maybe quotient(const Maybe& top, const Maybe& bottom, double scale = 1) {
  if (!top || !bottom || *bottom <= 0) return std::nullopt;
  return *top / *bottom * scale;
}

}  // namespace gable

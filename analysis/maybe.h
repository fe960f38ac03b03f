// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace gable {

// A number that may be unknown: std::nullopt here, null in files, never 0.
using Maybe = std::optional<double>;

}  // namespace gable

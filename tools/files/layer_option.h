// SPDX-License-Identifier: Apache-2.0
// The values of --layer, which several commands have.
#pragma once

#include <string>
#include <vector>

#include "analysis/base/pattern.h"

namespace gable {

// Parses the values; throws WrongUse if one is not a pattern.
[[nodiscard]] std::vector<Pattern> layer_patterns(const std::vector<std::string>& texts);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "analysis/base/maybe.h"

namespace gable {

// What is unknown is null.
[[nodiscard]] inline nlohmann::ordered_json or_null(const Maybe& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace gable

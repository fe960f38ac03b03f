// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collector/runtime/runtime.h"

namespace gable {

// Says that the Python side has found torch: PyTorch's modules are followed in this process, and
// copies outside of them get a layer.
void modules_are_followed(Runtime& rt);
[[nodiscard]] bool modules_followed(const Runtime& rt);

// Sets why it has not, as known so far: a clause and perhaps a sentence; `reason` must stay valid.
void modules_missing_because(const char* reason);

// Adds a sentence to the report if PyTorch runs in this process but its modules are not followed,
// although that was requested.
void note_missing_modules(Runtime& rt);

}  // namespace gable

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collector/runtime/runtime.h"

namespace gable {

// The Python side has found torch: PyTorch's modules are followed in this process, and copies
// outside of them have a layer.
void modules_are_followed(Runtime& rt);
[[nodiscard]] bool modules_followed(const Runtime& rt);

// Why it has not, as far as is known by now: a clause and perhaps a sentence, which must stay where
// they are.
void modules_missing_because(const char* reason);

// One sentence in the report when PyTorch runs in this process and nobody follows its modules,
// although that was asked for.
void note_missing_modules(Runtime& rt);

}  // namespace gable

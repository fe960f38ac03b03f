// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collector/runtime.h"

namespace gable {

// The Python side has found torch: PyTorch's modules are followed in this process.
void modules_are_followed();

// One sentence in the report when PyTorch runs in this process and nobody follows its modules,
// although that was asked for.
void note_missing_modules(Runtime& rt);

}  // namespace gable

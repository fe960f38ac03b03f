// SPDX-License-Identifier: Apache-2.0
// Advice drawn from what --metrics mix, warps and cache tell of how kernels use the GPU. Internal
// to this folder.
#pragma once

#include <vector>

#include "tools/advice/advice_facts.h"

namespace gable {

// Adds this advice, only for kernels whose bound makes it relevant.
void advise_on_use(const AdviceFacts& facts, std::vector<Advice>& advice);

}  // namespace gable
